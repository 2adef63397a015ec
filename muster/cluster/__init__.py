"""Clusters to run on (embedded control plane, container, kind, k3s, existing), and the API client they share."""
