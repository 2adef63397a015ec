"""The training processes of pods that are objects only: who crashes when a member of a job is lost.

Pods that end by themselves need no player: KWOK's stages play `muster.dev/runs-for` alone.
"""
