"""Training jobs as people handle them: submit one, look at it, list, find the GPUs, read what happened, delete.

The commands talk to the API server only; whichever operator serves the kubeflow.org kinds does the rest.
"""
