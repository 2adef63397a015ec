"""The reference training operator: reconciles PyTorchJob and MPIJob of kubeflow.org.

`reconcile` is pure: observed objects in, actions out. The controller around it watches the API server and writes.
"""
