"""Reserved ports, the certificate authority, kubeconfigs and component flags."""

from __future__ import annotations

import datetime
import errno
import json
import socket
import stat
from pathlib import Path

import pytest
from cryptography import x509

from muster.cluster.kubeconfig import write_kubeconfig
from muster.cluster.local import component_flags
from muster.cluster.local.certificates import CertificateAuthority
from muster.processes.readiness import Port


def listen(number: int) -> socket.socket:
    """As a Go server does."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", number))
    server.listen()
    return server


def test_a_server_can_listen_on_a_reserved_port() -> None:
    port = Port()
    with listen(port.number) as server, socket.create_connection(("127.0.0.1", port.number)) as client:
        connection, _ = server.accept()
        connection.sendall(b"here")
        assert client.recv(4) == b"here"
        connection.close()
    port.release()


def test_no_other_process_gets_a_reserved_port() -> None:
    port = Port()
    with socket.socket() as other, pytest.raises(OSError, match="in use") as refused:
        other.bind(("127.0.0.1", port.number))
    assert refused.value.errno == errno.EADDRINUSE
    port.release()


def test_reserved_ports_are_all_different() -> None:
    ports = [Port() for _ in range(300)]
    assert len({port.number for port in ports}) == len(ports)
    for port in ports:
        port.release()


def test_a_released_port_is_free_again() -> None:
    port = Port()
    port.release()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port.number))


def test_certificates_are_short_lived_backdated_and_private(tmp_path: Path) -> None:
    authority = CertificateAuthority(tmp_path)
    authority.client("admin", "someone", "system:masters")
    authority.server("kube-apiserver")
    now = datetime.datetime.now(datetime.UTC)
    for file in tmp_path.glob("*.crt"):
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        assert certificate.not_valid_before_utc <= now - datetime.timedelta(minutes=4)
        assert certificate.not_valid_after_utc <= now + datetime.timedelta(days=7, minutes=1)
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    admin = x509.load_pem_x509_certificate((tmp_path / "admin.crt").read_bytes())
    assert admin.subject.rfc4514_string() == "CN=someone,O=system:masters"
    admin.verify_directly_issued_by(x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes()))


def test_a_kubeconfig_is_private_and_contains_no_key(tmp_path: Path) -> None:
    authority = CertificateAuthority(tmp_path)
    authority.client("admin", "someone")
    target = tmp_path / "kubeconfig"
    write_kubeconfig(
        target,
        server="https://127.0.0.1:1",
        authority=authority.certificate,
        user="someone",
        certificate=tmp_path / "admin.crt",
        key=tmp_path / "admin.key",
    )
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "-data" not in target.read_text()
    assert json.loads(target.read_text())["current-context"] == "muster"


def test_feature_gates_go_to_both_components_and_enable_the_gang_controller() -> None:
    gates = {"GenericWorkload": True, "Other": False}
    flag = "--feature-gates=GenericWorkload=true,Other=false"
    api = component_flags.kube_apiserver(1, gates, ("scheduling.k8s.io/v1beta1=true",))
    assert {flag, "--runtime-config=scheduling.k8s.io/v1beta1=true"} <= set(api)
    manager = component_flags.kube_controller_manager(gates, ("some-controller",))
    assert flag in manager
    assert "some-controller" in next(one for one in manager if one.startswith("--controllers="))
    assert not any(one.startswith("--feature-gates") for one in component_flags.kube_controller_manager({}))
