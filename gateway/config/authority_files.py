"""Locates the files of the proxy's certificate authority that clients read."""

from pathlib import Path


def certificate_of(folder: Path) -> Path:
    """Returns the path of the authority's certificate in `certs_dir`. mitmproxy chose its name."""
    return folder / "mitmproxy-ca-cert.pem"


def private_key_of(folder: Path) -> Path:
    """Returns the path of the file that holds the authority's private key and certificate."""
    return folder / "mitmproxy-ca.pem"


def bundle_of(folder: Path) -> Path:
    """Returns the path of the file that holds our authority and the public ones."""
    return folder / "ca-bundle.pem"
