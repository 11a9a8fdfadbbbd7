"""Addresses of listeners: their URLs, and the risks to accept where more than this machine can reach them."""

from collections.abc import Collection, Iterable, Iterator
from ipaddress import ip_address
from typing import Literal

type Risk = Literal["plain_http", "open_proxy", "public_demo", "public_mitmweb"]
type ListenerName = Literal["gateway", "proxy", "web", "operations"]

_EXPOSED: dict[Risk, str] = {
    "plain_http": "beyond this machine, it would be reached over plain HTTP, which protects neither texts nor keys. Set"
    " `tls_certificate`, or terminate TLS in front of it",
    "open_proxy": "any client that reaches the proxy can use it. Set `proxy_key` to true, or let only its clients"
    " reach it",
    "public_demo": "without an upstream, clients beyond this machine would get only the demo. Configure an upstream",
    "public_mitmweb": "beyond this machine, only a token protects mitmweb, over plain HTTP unless `tls_certificate` is"
    " set. Use a tunnel instead",
}


def is_loopback(host: str) -> bool:
    """Tells whether only this machine reaches a listener on `host`. A name other than `localhost` may lead anywhere."""
    try:
        return ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def exposures(setting: str, host: str, risks: Iterable[Risk], accepted: Collection[Risk]) -> Iterator[str]:
    """Yields a problem for each of the `risks` that a listener on `host` has and that is not accepted."""
    for risk in () if is_loopback(host) else risks:
        if risk not in accepted:
            yield f"{setting}: {_EXPOSED[risk]}, and add `{risk}` to the setting `accept_risks`; or listen on 127.0.0.1"


def in_url(host: str) -> str:
    """Returns a host as URLs and `Host` have it: an IPv6 address in brackets (RFC 3986, section 3.2.2)."""
    return f"[{host}]" if ":" in host else host


def listener_url(host: str, port: int | str, key: str = "", *, tls: bool = False) -> str:
    """Returns the URL of what listens on a name or address, IPv6 in brackets (RFC 3986, section 3.2.2).

    A `key` becomes the password in it. It must be quoted for URLs.
    """
    user = f"key:{key}@" if key else ""
    return f"{'https' if tls else 'http'}://{user}{in_url(host)}:{port}"
