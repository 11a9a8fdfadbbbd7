"""The files of the proxy's certificate authority."""

from pathlib import Path

import trustme

from addons.certificate_authority import make_authority, upstream_authorities
from gateway.config.locations import bundle_of
from gateway.config.server_certificate import certificates_in
from tests.certificates import write_certificate


def test_the_bundle_has_the_certificates_of_listeners_and_never_their_key(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path / "tls")
    certificate.write_bytes(certificate.read_bytes() + key.read_bytes())
    make_authority(tmp_path, certificates_in(certificate))
    bundle = bundle_of(tmp_path).read_text()
    assert certificate.read_text().partition("-----BEGIN EC PRIVATE KEY")[0].split("\n")[1] in bundle
    assert "PRIVATE KEY" not in bundle


def test_files_deleted_beside_the_key_are_written_again(tmp_path: Path) -> None:
    certificate = make_authority(tmp_path)
    before = certificate.read_bytes(), bundle_of(tmp_path).read_bytes()
    certificate.unlink()
    bundle_of(tmp_path).unlink()
    assert make_authority(tmp_path) == certificate
    assert (certificate.read_bytes(), bundle_of(tmp_path).read_bytes()) == before


def test_other_authorities_of_upstreams_are_in_a_file_with_another_name(tmp_path: Path) -> None:
    assert upstream_authorities(tmp_path, []) is None
    extra, made = tmp_path / "ca.pem", []
    for _ in range(2):
        trustme.CA().cert_pem.write_to_path(extra)
        made += [upstream_authorities(tmp_path, [extra]) for _ in range(2)]
        assert made[-1] is not None
        assert made[-1].read_text().endswith(extra.read_text())
    assert len(set(made)) == 2
