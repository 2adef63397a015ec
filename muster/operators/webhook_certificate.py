"""The certificate of an admission webhook on the loopback address, and of the authority that issued it.

The trap: training-operator replaces what it does not accept by a certificate of its own, which is valid for the name of
a Service alone. It accepts an authority with an RSA key and the name below, a certificate for the Service, and both for
no less than 90 more days.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from muster.errors import HarnessError

_AUTHORITY = "training-operator-ca"
_LIFETIME = datetime.timedelta(days=365)
_BACKDATED = datetime.timedelta(minutes=5)  # clocks of containers and virtual machines disagree a little
_KEY_BITS = 2048
_FILE = Path("/tmp/k8s-webhook-server/serving-certs/tls.crt")


def issue(service: str, directory: Path) -> dict[str, bytes]:
    """Write tls.crt and tls.key to the directory; return them with ca.crt and ca.key, as a Secret holds them."""
    authority_key, key = (rsa.generate_private_key(65537, _KEY_BITS) for _ in range(2))
    authority = _certificate(_AUTHORITY, _AUTHORITY, authority_key, [x509.DNSName(_AUTHORITY)], authority_key, ca=True)
    names = [x509.DNSName(service), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
    served = {"tls.crt": _certificate(service, _AUTHORITY, key, names, authority_key, ca=False), "tls.key": _pem(key)}
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in served.items():
        file = directory / name
        file.touch(mode=0o600)
        file.write_bytes(data)
    return {**served, "ca.crt": authority, "ca.key": _pem(authority_key)}


def _certificate(
    owner: str,
    issuer: str,
    key: rsa.RSAPrivateKey,
    names: list[x509.GeneralName],
    signed_with: rsa.RSAPrivateKey,
    *,
    ca: bool,
) -> bytes:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(owner))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )
    return builder.sign(signed_with, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(encoding, form, serialization.NoEncryption())


class CertificateFile:
    """The file in /tmp without which training-operator starts no controller: its path is fixed in the program.

    The program waits until its certificate is mounted there, and only looks whether the file exists; what it serves is
    read below TMPDIR. An empty file is enough, and one serves all runs on this machine: each has a shared lock on it,
    and the last one removes it. A file with content is not Muster's and is left alone. After SIGKILL the empty file
    stays until the next run removes it; the lock does not.
    """

    def __init__(self, file: Path = _FILE) -> None:
        self._file = file
        try:
            self._descriptor = self._locked()
        except PermissionError as problem:
            raise HarnessError(
                f"training-operator needs the file {file}, which cannot be created ({problem.strerror}): "
                "remove the directory if nothing uses it, or make it readable and writable."
            ) from None

    def release(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another run needs it
            pass
        else:
            self._remove()
        os.close(self._descriptor)

    def _locked(self) -> int:
        """Opened with a shared lock; tried again if another run removed the file between the two."""
        while True:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(self._file, os.O_RDONLY | os.O_CREAT, 0o644)
            except FileNotFoundError:
                continue
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), self._file.stat()):
                    return descriptor
            os.close(descriptor)

    def _remove(self) -> None:
        if os.fstat(self._descriptor).st_size:
            return
        with contextlib.suppress(OSError):  # of another user, or the directories hold something else
            self._file.unlink()
            self._file.parent.rmdir()
            self._file.parent.parent.rmdir()
