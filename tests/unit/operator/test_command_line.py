"""The command line of the operator."""

from __future__ import annotations

import pytest

from scheduler.operator.__main__ import main

_USAGE = 64


def test_without_a_kubeconfig_it_needs_a_service_account(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert main([]) == _USAGE
    assert "does not run in a pod" in capsys.readouterr().err
