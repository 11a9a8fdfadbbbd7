"""The certificate of the listeners: each problem is found before the start, and the name that clients need."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

from gateway.config.server_certificate import certificates_in, certified_name, read_certificate
from gateway.config.settings import SettingsError
from tests.certificates import NOW, write_certificate


def _pem(
    key: ec.EllipticCurvePrivateKey | dsa.DSAPrivateKey, encryption: KeySerializationEncryption | None = None
) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())


OTHER = ec.generate_private_key(ec.SECP256R1())
HARMS: dict[str, tuple[Callable[[Path, Path], object], list[str]]] = {
    "no certificate": (lambda file, _: file.unlink(), ["tls_certificate: ", "cannot be read (No such file"]),
    "nonsense": (lambda file, _: file.write_text("text"), ["tls_certificate: ", "holds no certificate in PEM"]),
    "a damaged certificate": (lambda file, _: file.write_bytes(file.read_bytes()[:400]), ["tls_certificate: ", "PEM"]),
    "no key": (lambda _, key: key.unlink(), ["tls_key: ", "cannot be read (No such file"]),
    "a key of nonsense": (lambda _, key: key.write_text("text"), ["tls_key: ", "holds no private key in PEM"]),
    "an open key": (lambda _, key: key.chmod(0o640), ["tls_key: other users can open", "run `chmod 600 "]),
    "another key": (lambda _, key: key.write_bytes(_pem(OTHER)), ["tls_key: ", "is not the key of the first"]),
    "a passphrase": (
        lambda _, key: key.write_bytes(_pem(OTHER, BestAvailableEncryption(b"secret"))),
        ["tls_key: ", "needs a passphrase"],
    ),
    "a key of DSA": (
        lambda _, key: key.write_bytes(_pem(dsa.generate_private_key(1024))),
        ["tls_key: ", "a kind that TLS does not use"],
    ),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_file_that_cannot_be_used_is_named_with_a_remedy(harm: str, tmp_path: Path) -> None:
    file, key = write_certificate(tmp_path)
    damage, said = HARMS[harm]
    damage(file, key)
    with pytest.raises(SettingsError) as refused:
        read_certificate(file, key)
    (problem,) = refused.value.problems
    assert problem.startswith(said[0])
    assert said[1] in problem


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        read_certificate(tmp_path / "a", tmp_path / "b")
    assert [problem.partition(":")[0] for problem in refused.value.problems] == ["tls_certificate", "tls_key"]


def test_a_certificate_is_used_within_its_time_and_after(tmp_path: Path) -> None:
    early = write_certificate(tmp_path, begins=timedelta(days=1))
    with pytest.raises(SettingsError, match="is not valid before"):
        read_certificate(*early)
    assert not read_certificate(*write_certificate(tmp_path)).has_expired
    expired = read_certificate(*write_certificate(tmp_path, ends=timedelta(days=-1)))
    assert expired.has_expired
    assert expired.expires == (NOW - timedelta(days=1)).replace(microsecond=0)


def test_the_chain_follows_the_certificate(tmp_path: Path) -> None:
    authority = trustme.CA()
    read = read_certificate(*write_certificate(tmp_path, authority=authority.create_child_ca()))
    assert [each.subject for each in read.chain] == [read.certificate.issuer]
    assert "PrivateKey" not in repr(read)


def test_a_key_that_is_too_short_is_refused(tmp_path: Path) -> None:
    """The library that reads it accepts it, and OpenSSL does not."""
    key = rsa.generate_private_key(65537, 1024)
    name = x509.Name([])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, NOW - timedelta(1), NOW + timedelta(1))
    file, key_file = tmp_path / "a.pem", tmp_path / "a.key"
    file.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    key_file.chmod(0o600)
    with pytest.raises(SettingsError, match=r"TLS cannot use .* RSA with 2048 bits"):
        read_certificate(file, key_file)


@pytest.mark.parametrize(
    ("names", "host", "found"),
    [
        (["127.0.0.1", "gateway.test"], "127.0.0.1", "127.0.0.1"),
        (["gateway.test", "::1"], "0:0::1", "0:0::1"),
        (["localhost", "gateway.test"], "127.0.0.1", "localhost"),
        (["gateway.test", "other.test"], "127.0.0.1", "gateway.test"),
        (["gateway.test"], "GATEWAY.test", "GATEWAY.test"),
        (["*.test"], "gateway.test", "gateway.test"),
        (["*.test"], "a.gateway.test", "a.gateway.test"),
        (["*.test", "gateway.test"], "host.docker.internal", "gateway.test"),
        (["192.0.2.1"], "10.0.0.1", "192.0.2.1"),
    ],
)
def test_clients_use_a_name_that_the_certificate_has(names: list[str], host: str, found: str, tmp_path: Path) -> None:
    file, _ = write_certificate(tmp_path, *names)
    assert certified_name(file, host) == found


def test_without_a_certificate_the_host_is_the_name(tmp_path: Path) -> None:
    assert certificates_in(tmp_path / "none") == []
    assert certified_name(tmp_path / "none", "10.0.0.1") == "10.0.0.1"
