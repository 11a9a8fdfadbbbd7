"""The certificate authority of the proxy: its files, and how to trust it on this machine."""

import platform
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore
from mitmproxy.certs import CertStore
from mitmproxy.options import CONF_BASENAME, KEY_SIZE

from gateway.config.durable_files import replacing
from gateway.config.locations import CERTIFICATE_GUIDE, bundle_of, certificate_of, trust_store_of

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def make_authority(folder: Path, listeners: Iterable[x509.Certificate] = ()) -> Path:
    """Creates the authority on first use, or what is missing beside its key. Returns its certificate's path (PEM).

    The private key, readable by its owner only, is in the same folder. So is `ca-bundle.pem`, the certificate with the
    public authorities and the certificates of our `listeners`: programs that accept only one file of trusted
    authorities can still reach every other host. `ca-bundle.p12` has the same for Java.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = CertStore.from_store(folder, CONF_BASENAME, KEY_SIZE)
    certificate = certificate_of(folder)
    # mitmproxy writes it only together with a new key.
    if not certificate.exists():
        certificate.write_bytes(store.default_ca.to_pem())
    also = "".join(each.public_bytes(Encoding.PEM).decode() for each in listeners)
    wanted = certificate.read_text() + also + Path(certifi.where()).read_text(encoding="utf-8")
    bundle = bundle_of(folder)
    store_of_java = trust_store_of(folder)
    if not bundle.exists() or bundle.read_text(encoding="utf-8") != wanted or not store_of_java.exists():
        bundle.write_text(wanted, encoding="utf-8")
        store_of_java.write_bytes(_trust_store(wanted))
    return certificate


def _trust_store(pem: str) -> bytes:
    """Returns the certificates in a form that Java reads (PKCS #12, without a password)."""
    found = [PKCS12Certificate(each, b"%d" % number) for number, each in enumerate(_readable(pem))]
    return serialize_java_truststore(found, NoEncryption())


def _readable(pem: str) -> Iterator[x509.Certificate]:
    """Yields the certificates in a text, but for public ones that are too irregular to be read."""
    with warnings.catch_warnings(action="ignore"):
        for block in _CERTIFICATE.findall(pem):
            try:
                yield x509.load_pem_x509_certificate(block.encode())
            except ValueError:
                continue


def upstream_authorities(folder: Path, extra: Sequence[Path]) -> Path | None:
    """Writes the authorities that verify upstreams to one file. Returns None if the public ones suffice.

    mitmproxy takes a single file for all upstreams, so the extra authorities are trusted for every upstream. It keeps
    what it has read from a file of this name, so other authorities need a file with another name.
    """
    if not extra:
        return None
    parts = [
        Path(certifi.where()).read_text(encoding="utf-8"),
        *(path.read_text(encoding="utf-8") for path in extra),
    ]
    content = "\n".join(parts).encode()
    bundle = folder / f"upstream-ca-{sha256(content).hexdigest()[:16]}.pem"
    with replacing(bundle) as file:
        file.write(content)
    return bundle


def ends_of(certificate: Path) -> float:
    """Returns when a certificate expires, in seconds since the epoch."""
    return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc.timestamp()


def describe_authority(folder: Path, proxy: str | None) -> str:
    """Returns instructions, with commands to copy, for trusting the authority on this machine.

    `proxy` is the URL of the proxy, None if it is switched off.
    """
    certificate = certificate_of(folder).resolve()
    bundle = bundle_of(folder).resolve()
    # Node.js has authorities of its own, but not that of a proxy with TLS.
    for_node = bundle if proxy and proxy.startswith("https:") else certificate
    trust = {
        "Linux": f"  sudo cp {certificate} /usr/local/share/ca-certificates/privacy-gateway.crt && "
        "sudo update-ca-certificates",
        "Darwin": f"  sudo security add-trusted-cert -d -k /Library/Keychains/System.keychain {certificate}",
        "Windows": f"  certutil -addstore -f Root {certificate}",
    }.get(platform.system(), f"  see {CERTIFICATE_GUIDE}")
    return "\n".join(
        (
            f"The proxy's certificate authority: {certificate}",
            "",
            "For one program, without touching the system:",
            f"  export HTTPS_PROXY={proxy}"
            if proxy
            else "  (The proxy is switched off: the setting `proxy` is false.)",
            f"  export SSL_CERT_FILE={bundle}   # Python (httpx, openai), Go",
            f"  export REQUESTS_CA_BUNDLE={bundle} CURL_CA_BUNDLE={bundle}   # requests, curl",
            f"  export NODE_EXTRA_CA_CERTS={for_node}   # Node.js",
            "",
            f"For this machine ({platform.system()}):",
            trust,
            "",
            f"Every way, and how to remove it again: {CERTIFICATE_GUIDE}",
        )
    )
