"""The certificate in use: what it agrees to with clients, and that it is replaced only by one that works."""

import ssl
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import trustme
from OpenSSL import SSL

from addons.certificate_files import CertificateFiles, read_files
from gateway.config.settings import Settings, SettingsError
from tests.certificates import NOW, write_certificate


def handshake(files: CertificateFiles, authority: trustme.CA, **limits: ssl.TLSVersion) -> ssl.SSLObject:
    """Completes a handshake in memory as a client that offers HTTP/2 as well."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    for name, version in limits.items():
        setattr(context, name, version)
    received, sent, server = ssl.MemoryBIO(), ssl.MemoryBIO(), files.connection()
    client = context.wrap_bio(received, sent, server_hostname="localhost")
    for _ in range(4):
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
        if data := sent.read():
            server.bio_write(data)
        with suppress(SSL.WantReadError):
            server.do_handshake()
        try:
            received.write(server.bio_read(65536))
        except SSL.WantReadError:
            return client
    return client


@pytest.mark.parametrize("key_type", list(trustme.KeyType))
def test_clients_get_http_1_over_tls_1_2_or_newer(key_type: trustme.KeyType, tmp_path: Path) -> None:
    authority = trustme.CA()
    files = CertificateFiles(*write_certificate(tmp_path, authority=authority, key_type=key_type))
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        client = handshake(files, authority, minimum_version=version, maximum_version=version)
        assert client.version() == version.name.replace("_", ".")
        assert client.selected_alpn_protocol() == "http/1.1"


def test_a_replaced_certificate_is_used_from_then_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = trustme.CA()
    paths = write_certificate(tmp_path, authority=authority)
    files = CertificateFiles(*paths)
    before, context = files.expires, files.context
    write_certificate(tmp_path, authority=authority, ends=timedelta(days=90), key_type=trustme.KeyType.RSA)
    assert files.expires == before
    files.use(read_files(*paths))
    assert files.expires == int((NOW + timedelta(days=90)).timestamp())
    assert files.context is not context
    assert handshake(files, authority).getpeercert() is not None
    assert caplog.records == []


def test_a_certificate_that_cannot_be_used_changes_nothing(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate, key = write_certificate(tmp_path, authority=authority)
    files = CertificateFiles(certificate, key)
    before, context = files.expires, files.context
    key.write_text("nonsense")
    with pytest.raises(SettingsError, match="tls_key"):
        files.use(read_files(certificate, key))
    assert (files.expires, files.context) == (before, context)
    assert handshake(files, authority).version() == "TLSv1.3"


def test_an_expired_certificate_is_used_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    CertificateFiles(*write_certificate(tmp_path, ends=timedelta(days=-1)))
    assert "`tls_certificate`) expired on" in caplog.text


def test_settings_without_a_certificate_have_none(tmp_path: Path) -> None:
    assert CertificateFiles.of(Settings()) is None
    certificate, key = write_certificate(tmp_path)
    assert CertificateFiles.of(Settings(tls_certificate=certificate, tls_key=key)) is not None
