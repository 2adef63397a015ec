"""The workload simulator: the training processes of simulated pods, which crash when a member of their job is lost.

Pods that end by themselves do not need it: KWOK's stages handle `muster.dev/runs-for`.
"""
