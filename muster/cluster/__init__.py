"""Where to run: the embedded plane today; kind, k3s and any kubeconfig share its interface."""
