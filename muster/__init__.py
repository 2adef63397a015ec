"""Muster: conformance tests for GPU and batch scheduling on Kubernetes."""

__version__ = "0.2.0"
