"""Options that lead Java's programs to the proxy: it reads neither the variables nor the authorities of others."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

VARIABLE = "JAVA_TOOL_OPTIONS"
# As Java's own default has it; an address in brackets.
_DIRECT = ("localhost", "127.*", "[::1]")
_OURS = re.compile(
    r'-D(?:https?\.proxy(?:Host|Port)|http\.nonProxyHosts|javax\.net\.ssl\.trustStore(?:Type)?)=(?:"[^"]*"|\S+)\s*'
)


def java_options(inherited: str, proxy: str, direct: Iterable[str], trust_store: Path | None) -> str:
    """Returns a value of the variable: what it had, with our properties in place of the same ones.

    `direct` are the hosts that are reached without the proxy. A key in the URL is left out, since Java has no property
    for it.
    """
    url = urlsplit(proxy)
    found: dict[str, str] = {}
    for scheme in ("https", "http"):
        found |= {f"{scheme}.proxyHost": url.hostname or "", f"{scheme}.proxyPort": str(url.port)}
    found["http.nonProxyHosts"] = "|".join((*_DIRECT, *direct))
    if trust_store is not None:
        found |= {"javax.net.ssl.trustStore": str(trust_store), "javax.net.ssl.trustStoreType": "PKCS12"}
    ours = " ".join(f"-D{name}={_quoted(value)}" for name, value in found.items())
    return f"{_OURS.sub('', inherited).strip()} {ours}".strip()


def _quoted(value: str) -> str:
    return f'"{value}"' if re.search(r"[\s|*']", value) else value
