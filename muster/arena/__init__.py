"""The Arena-compatible commands: submit, show, list and delete training jobs, show GPU usage and events.

The commands talk to the API server only; the operator that serves the kubeflow.org kinds does the rest. `commands` is
the entry: the command line registers its parsers, and steps run its commands in process.
"""
