"""The command line of the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.operator.__main__ import main

_USAGE = 64


def test_without_a_kubeconfig_it_needs_a_service_account(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert main([]) == _USAGE
    assert "does not run in a pod" in capsys.readouterr().err


def test_without_a_mounted_token_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr("scheduler.client.access._SERVICE_ACCOUNT", tmp_path)
    assert main([]) == _USAGE
    assert "no service account token" in capsys.readouterr().err


@pytest.mark.parametrize("address", [":80", "host:", "host:x", "80"])
def test_an_address_is_host_and_port(capsys: pytest.CaptureFixture[str], address: str) -> None:
    assert main(["--listen", address]) == _USAGE
    assert "is not HOST:PORT" in capsys.readouterr().err
