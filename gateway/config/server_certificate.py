"""Reads and checks the certificate with which the listeners speak TLS, and finds the name that clients need."""

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from gateway.config.listener_addresses import is_loopback
from gateway.config.private_files import is_open_to_others
from gateway.config.settings_file import SettingsError

type TlsKey = RSAPrivateKey | EllipticCurvePrivateKey | Ed25519PrivateKey

UNUSABLE = (
    "tls_certificate: TLS cannot use {} with its key; use a key of RSA with 2048 bits or more, P-256, P-384 or Ed25519"
)


@dataclass(frozen=True, slots=True)
class ServerCertificate:
    """A certificate, the rest of its chain and its private key. `context` serves them with the `ssl` module."""

    certificate: x509.Certificate
    chain: tuple[x509.Certificate, ...]
    key: TlsKey = field(repr=False)
    context: ssl.SSLContext = field(repr=False)

    @property
    def expires(self) -> datetime:
        return self.certificate.not_valid_after_utc

    @property
    def has_expired(self) -> bool:
        return datetime.now(UTC) > self.expires


def read_certificate(certificate: Path, key: Path) -> ServerCertificate:
    """Reads and checks a certificate with its chain, and its key, in PEM. Raises SettingsError with all problems."""
    problems: list[str] = []
    chain, secret = _read_chain(certificate, problems), _read_key(key, problems)
    if chain and secret and secret.public_key() != chain[0].public_key():
        problems.append(
            f"tls_key: {key} is not the key of the first certificate in tls_certificate; name the key that the"
            " certificate was requested with, and put the server's certificate before those of its chain"
        )
    if chain and (begins := chain[0].not_valid_before_utc) > datetime.now(UTC):
        problems.append(
            f"tls_certificate: {certificate} is not valid before {begins:%Y-%m-%d %H:%M} UTC; set this machine's clock,"
            " or use a certificate that is valid now"
        )
    if problems or secret is None:
        raise SettingsError(*problems)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key, password="")  # nosec B106 - an encrypted key is refused, not asked for
    except (OSError, ValueError):
        raise SettingsError(UNUSABLE.format(certificate)) from None
    return ServerCertificate(chain[0], tuple(chain[1:]), secret, context)


def certificates_in(file: Path) -> list[x509.Certificate]:
    """Returns the certificates in a file, none if it cannot be read."""
    try:
        return x509.load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError):
        return []


def certified_name(file: Path, host: str) -> str:
    """Returns the name by which clients on this machine reach a listener on `host` and accept its certificate.

    That is `host` or `localhost` if the certificate has it, otherwise the first name in the certificate.
    """
    names = _names(file)
    local = ("localhost",) if is_loopback(host) else ()
    covered = (name for name in (host, *local) if any(_covers(known, name) for known in names))
    return next(covered, None) or next((name for name in names if not name.startswith("*")), host)


def _names(file: Path) -> list[str]:
    for certificate in certificates_in(file)[:1]:
        try:
            found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (x509.ExtensionNotFound, ValueError):
            break
        addresses = map(str, found.get_values_for_type(x509.IPAddress))
        return [*map(str, found.get_values_for_type(x509.DNSName)), *addresses]
    return []


def _covers(known: str, host: str) -> bool:
    try:
        return ip_address(known) == ip_address(host)
    except ValueError:
        # An asterisk matches the first label (RFC 6125, section 6.4.3).
        return host.lower() in {known.lower(), known.lower().replace("*", host.lower().partition(".")[0], 1)}


def _read_chain(file: Path, problems: list[str]) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(file.read_bytes())
    except OSError as error:
        problems.append(f"tls_certificate: {file} cannot be read ({error.strerror}); name a file with a certificate")
    except ValueError:
        problems.append(f"tls_certificate: {file} holds no certificate in PEM, or a damaged one")
    return []


def _read_key(file: Path, problems: list[str]) -> TlsKey | None:
    try:
        if is_open_to_others(file):
            problems.append(f"tls_key: other users can open {file}, which holds a private key; run `chmod 600 {file}`")
        found = load_pem_private_key(file.read_bytes(), password=None)
        if isinstance(found, RSAPrivateKey | EllipticCurvePrivateKey | Ed25519PrivateKey):
            return found
        problems.append(f"tls_key: {file} holds a key of a kind that TLS does not use; take RSA, P-256 or Ed25519")
    except OSError as error:
        problems.append(f"tls_key: {file} cannot be read ({error.strerror}); name the file of the certificate's key")
    except TypeError:
        problems.append(f"tls_key: {file} needs a passphrase; write the key without one, readable by its owner only")
    except (ValueError, UnsupportedAlgorithm):
        problems.append(f"tls_key: {file} holds no private key in PEM, or a damaged one")
    return None
