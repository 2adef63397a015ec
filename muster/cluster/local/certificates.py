"""The certificate authority of one cluster, valid for a week.

Elliptic curves throughout: a P-256 key takes a millisecond where RSA takes a second of every start.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = datetime.timedelta(days=7)
_BACKDATED = datetime.timedelta(minutes=5)  # clocks of containers and virtual machines disagree a little


class CertificateAuthority:
    """Issues the certificates of one cluster into one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("muster")
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        builder = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
        )
        self.certificate = directory / "ca.crt"
        _write(self.certificate, _pem(builder.sign(self._key, hashes.SHA256())))

    def server(self, name: str) -> None:
        """A certificate for a server on the loopback address."""
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
        )
        self._issue(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str, user: str, group: str | None = None) -> None:
        """A client certificate of `user` in `group`."""
        self._issue(name, _name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def signing_key(self, name: str) -> None:
        """A bare key pair, as service account tokens are signed and checked with."""
        self._store_key(name, ec.generate_private_key(ec.SECP256R1()))

    def _issue(
        self,
        name: str,
        subject: x509.Name,
        purpose: x509.ObjectIdentifier,
        alternative: x509.SubjectAlternativeName | None,
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key()).add_extension(
            x509.ExtendedKeyUsage([purpose]), critical=False
        )
        if alternative is not None:
            builder = builder.add_extension(alternative, critical=False)
        _write(self._directory / f"{name}.crt", _pem(builder.sign(self._key, hashes.SHA256())))
        self._store_key(name, key)

    def _store_key(self, name: str, key: ec.EllipticCurvePrivateKey) -> None:
        data = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        _write(self._directory / f"{name}.key", data)


def _name(common: str, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organization:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _LIFETIME)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
