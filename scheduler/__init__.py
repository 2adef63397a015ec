"""The reference scheduler and operator: the clearest text there is on how GPU batch scheduling should behave.

core/ decides, runtime/ is the shell around it, operator/ makes pods of jobs, client/ speaks to the API server. It
stands alone, imports nothing of the harness, and is reached as a process only (`python -m scheduler`).
"""
