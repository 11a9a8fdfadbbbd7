"""Certificates of listeners, as files."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme

NOW = datetime.now(UTC)


def write_certificate(
    folder: Path,
    *names: str,
    authority: trustme.CA | None = None,
    begins: timedelta = timedelta(days=-2),
    ends: timedelta = timedelta(days=30),
    key_type: trustme.KeyType = trustme.KeyType.ECDSA,
) -> tuple[Path, Path]:
    """Writes a certificate for the names with its authority's, and its key. Returns the paths of both."""
    authority = authority or trustme.CA()
    made = authority.issue_cert(
        *(names or ("127.0.0.1", "localhost")), not_before=NOW + begins, not_after=NOW + ends, key_type=key_type
    )
    folder.mkdir(exist_ok=True)
    certificate, key = folder / "listener.pem", folder / "listener.key"
    # The chain has the authority unless that is a root.
    pems = dict.fromkeys(pem.bytes() for pem in (*made.cert_chain_pems, authority.cert_pem))
    certificate.write_bytes(b"".join(pems))
    key.write_bytes(made.private_key_pem.bytes())
    key.chmod(0o600)
    return certificate, key
