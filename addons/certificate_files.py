"""Keeps the certificate of the listeners, and replaces it while they serve."""

import logging
import ssl
from pathlib import Path
from typing import Any

from OpenSSL import SSL

from gateway.config.server_certificate import UNUSABLE, ServerCertificate, read_certificate
from gateway.config.settings import Settings, SettingsError

_log = logging.getLogger(__name__)

# Mozilla's intermediate configuration without finite-field key exchange. TLS 1.3 has ciphers of its own.
_CIPHERS = ":".join(
    f"ECDHE-{key}-{cipher}"
    for cipher in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")
    for key in ("ECDSA", "RSA")
)
_HTTP_1 = b"http/1.1"


class CertificateFiles:
    """The certificate in the files that the settings name. `use` replaces it for new connections."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Raises SettingsError with all problems of the files."""
        self.use(read_files(certificate, key))

    @classmethod
    def of(cls, settings: Settings) -> "CertificateFiles | None":
        """Returns the files that the settings name, None without a certificate. Raises SettingsError."""
        if settings.tls_certificate is None or settings.tls_key is None:
            return None
        return cls(settings.tls_certificate, settings.tls_key)

    def use(self, read: "tuple[ServerCertificate, SSL.Context]") -> None:
        """Uses a certificate that `read_files` has read."""
        self._current, self._context = read
        if self._current.has_expired:
            expired = f"{self._current.expires:%F}"
            _log.warning("the certificate of the listeners (`tls_certificate`) expired on %s", expired)

    @property
    def expires(self) -> float:
        """Returns the end of the certificate's validity, in seconds since 1970."""
        return self._current.expires.timestamp()

    @property
    def context(self) -> ssl.SSLContext:
        """Returns what makes connections of the `ssl` module."""
        return self._current.context

    def connection(self) -> SSL.Connection:
        """Returns the server's end of a new connection."""
        made = SSL.Connection(self._context)
        made.set_accept_state()
        return made


def read_files(certificate: Path, key: Path) -> tuple[ServerCertificate, SSL.Context]:
    """Reads and checks both files. Raises SettingsError with all problems."""
    read = read_certificate(certificate, key)
    return read, _openssl_context(read, certificate)


def _openssl_context(read: ServerCertificate, file: Path) -> SSL.Context:
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_min_proto_version(SSL.TLS1_2_VERSION)
    context.set_options(SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
    context.set_cipher_list(_CIPHERS.encode())
    context.set_alpn_select_callback(_select)
    try:
        context.use_certificate(read.certificate)
        for each in read.chain:
            context.add_extra_chain_cert(each)
        context.use_privatekey(read.key)
    except (SSL.Error, TypeError, ValueError):
        raise SettingsError(UNUSABLE.format(file)) from None
    return context


def _select(_: SSL.Connection, offered: list[bytes]) -> Any:
    """Chooses HTTP/1.1, the only version that the listeners speak. A client without it continues without ALPN."""
    return _HTTP_1 if _HTTP_1 in offered else SSL.NO_OVERLAPPING_PROTOCOLS
