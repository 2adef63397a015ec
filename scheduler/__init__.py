"""The reference scheduler and training operator: a readable implementation of the behaviours that the suite tests.

core/ makes the decisions, runtime/ watches and executes, operator/ creates pods for jobs, client/ is the API client. It
imports nothing of the harness and is used only as a process (`python -m scheduler`).
"""
