"""The files of the proxy's certificate authority."""

from pathlib import Path

from addons.certificate_authority import make_authority
from gateway.config.locations import bundle_of


def test_files_deleted_beside_the_key_are_written_again(tmp_path: Path) -> None:
    certificate = make_authority(tmp_path)
    before = certificate.read_bytes(), bundle_of(tmp_path).read_bytes()
    certificate.unlink()
    bundle_of(tmp_path).unlink()
    assert make_authority(tmp_path) == certificate
    assert (certificate.read_bytes(), bundle_of(tmp_path).read_bytes()) == before
