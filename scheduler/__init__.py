"""The reference scheduler and operator: the clearest text there is on how GPU batch scheduling should behave.

It stands alone, imports nothing of the harness, and is reached as a process only (`python -m scheduler`).
Nothing is here yet: the floor is proven on schedulers that others wrote first.
"""
