"""The reference operator: PyTorchJob and MPIJob of kubeflow.org, from a job to its pods and from its pods to its end.

`reconcile` is the heart: what is there goes in, what to change comes out. The shell around it watches and writes.
"""
