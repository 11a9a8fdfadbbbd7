"""Finds the address of a client that reached the gateway through other proxies."""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from gateway.http.types import Address, Field


def client_address(peer: Address, fields: Iterable[Field], trusted: Sequence[IPv4Network | IPv6Network]) -> str | None:
    """Returns the last address that no trusted proxy vouches for, in its canonical form.

    `peer` is the other end of the connection. Only if that is in one of the trusted networks, `X-Forwarded-For` counts,
    read from its end: each proxy appends the address that it was called from.
    """
    if peer is None:
        return None
    known = _parsed(peer[0])
    if known is None:
        return None
    values = [value.decode("latin-1") for name, value in fields if name.lower() == b"x-forwarded-for"]
    hops = ",".join(values).split(",") if values else []
    while hops and any(known in network for network in trusted):
        before = _parsed(hops.pop().strip())
        if before is None:
            break
        known = before
    return str(known)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Parses an address, without brackets, port and zone. An IPv4 address that is mapped to IPv6 counts as IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
