"""IP addresses (RFC 4291, 5952; with prefix length) and MAC addresses (IEEE 802), excluding version numbers and similar
text.

Addresses without an owner (documentation, loopback, unspecified: RFC 5737, 3849, 1122) get a low score.
"""

import ipaddress
from collections.abc import Iterator, Sequence

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match
from gateway.detection.recognizers._samples import with_examples

IP_ADDRESS = EntityType("IP_ADDRESS", "network", "An IPv4 or IPv6 address or network.")
MAC_ADDRESS = EntityType("MAC_ADDRESS", "device", "The hardware address of a network interface.")

_EXPRESSIONS = Expressions(read_toml(__file__)["expressions"])
_V4, _V6, _VERSION, _OF_PROTOCOL, _REQUIRED = _EXPRESSIONS.re2("v4", "v6", "version", "of_protocol", "required")
_OF_NETWORKS, *_MAC_FORMS = _EXPRESSIONS.re2("of_networks", "mac", "cisco_prefilter")
_REVISION, _HEADING, _TITLE, _CONTINUES = _EXPRESSIONS.of_bytes("revision", "heading", "title", "continues")
_VERSION_REACH = 24

_REQUIRED_REACH = 160
_COMPARED = (b"=", b" ")
_MOST_SECTIONS = 20
_SIBLINGS = 4000

_DOCUMENTATION = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "2001:db8::/32",
        "3fff::/20",
        "0.0.0.0/8",
        "100.64.0.0/32",  # special registries and netmasks
        "192.0.0.0/24",
        "198.18.0.0/16",
        "240.0.0.0/4",
    )
)
# (version, address, mask): faster to compare than ipaddress networks.
_UNOWNED_NETWORKS = tuple((net.version, int(net.network_address), int(net.netmask)) for net in _DOCUMENTATION)
_WIDEST_PRIVATE, _WIDEST_PUBLIC = {4: 16, 6: 64}, {4: 7, 6: 28}
_GIVEN_OUT = ipaddress.ip_network("2000::/3")  # the allocated unicast addresses
_UNOWNED, _INTERNAL, _PUBLIC = 0.2, 0.6, 0.95
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_INDEXED = _WORD | frozenset(b")]")


def _score(value: str) -> float | None:
    host, _, length = value.partition("/")
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    number, version = int(address), address.version
    if any(version == of and number & mask == first for of, first, mask in _UNOWNED_NETWORKS):
        return _UNOWNED
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return _UNOWNED
    # A block from a registry (10.0.0.0/8, fe80::/10) is not personal.
    private = address.is_private or address.is_link_local
    if length and int(length) <= (_WIDEST_PRIVATE if private else _WIDEST_PUBLIC)[address.version]:
        return _UNOWNED
    if length and address.version == 6 and not private and address not in _GIVEN_OUT:
        return _UNOWNED
    return _INTERNAL if private else _PUBLIC


def _find_ip(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    if 0 in hits:
        yield from _find_v4(normalized)
    if 1 in hits:
        yield from _find_v6(normalized)


def _find_v4(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    at = 0
    while match := _V4.search(data, at):
        start, end = match.span()
        longer = _CONTINUES.match(data, end)
        at = end if longer is None else longer.end()
        if start and data[start - 1] in b".:" and start > 1 and data[start - 2] in _WORD | {ord(":")}:
            continue  # the end of something longer: 1.2.3.4.5, ::ffff:10.0.0.1
        value = normalized.text(start, end)
        if _is_version(data, start, end) or _is_section(data, start, end, value):
            continue
        if data[end : end + 13].lower() == b".in-addr.arpa":
            value = ".".join(reversed(value.split(".")))
        elif longer is not None:
            value = "0.0.0.0"  # noqa: S104 - the start of something longer  # nosec B104
        score = _score(value)
        if score is not None:
            yield Match(start, end, score, IP_ADDRESS.name)


def _is_version(data: bytes, start: int, end: int) -> bool:
    """Returns whether what is directly before or after four numbers says that they are no address."""
    before = data[max(0, start - _REQUIRED_REACH) : start]
    if _VERSION.search(before[-_VERSION_REACH:]) and not _OF_PROTOCOL.search(before[-_VERSION_REACH:]):
        return True
    if _REVISION.match(data, end):
        return True
    required = _REQUIRED.search(before) if before[-1:] in _COMPARED else None
    return required is not None and _OF_NETWORKS.search(required[1] or b"") is None


def _is_section(data: bytes, start: int, end: int, value: str) -> bool:
    """Returns whether four small numbers are a section's, next to its title and another section. No part is 0."""
    parts = value.split(".")
    return (
        all(part.isdigit() and 0 < int(part) <= _MOST_SECTIONS for part in parts)
        and parts[0] != "10"  # the private network
        and _TITLE.match(data, end) is not None
        and _HEADING.search(data[max(0, start - 40) : start]) is not None
        and data.count(f"{value.rpartition('.')[0]}.".encode(), max(0, start - _SIBLINGS), end + _SIBLINGS) > 1
    )


def _find_v6(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    for match in _V6.finditer(data):
        start, end = match.span()
        # Without `::`, an address has seven colons; a time of day has two.
        if (data.count(b":", start, end) < 6 and data.find(b"::", start, end) < 0) or (
            start and data[start - 1] in b"."
        ):
            continue
        if start > 1 and data[start - 1] == ord("[") and data[start - 2] in _INDEXED:
            continue  # a slice with a step: items[1::2]
        if end - start < 5 and (data[start - 1 : start] == b"-" or data[end : end + 1] == b"-"):
            continue  # a slice with negative bounds: items[-2::-1]
        value = normalized.text(start, end)
        score = _score(value)
        if score is not None:
            code = not any(char.isdigit() for char in value)  # a::b is an identifier in C++ and Rust
            yield Match(start, end, _UNOWNED if code else score, IP_ADDRESS.name)


def _find_mac(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for match in (match for hit in hits for match in _MAC_FORMS[hit].finditer(data)):
        start, end = match.span()
        # Six pairs are a MAC; more of them are a fingerprint.
        if (start and data[start - 1] in b":-.") or (
            end < len(data) - 1 and data[end] in b":-." and data[end + 1] in _WORD
        ):
            continue
        digits = "".join(char for char in normalized.text(start, end) if char.isalnum())
        if len(digits) == 12 and len(set(digits)) > 1:
            yield Match(start, end, 0.9, MAC_ADDRESS.name)


RECOGNIZERS = (
    with_examples(
        __file__, "network.ip", (IP_ADDRESS,), (_EXPRESSIONS["v4_prefilter"], _EXPRESSIONS["v6_prefilter"]), _find_ip
    ),
    with_examples(
        __file__,
        "network.mac",
        (MAC_ADDRESS,),
        (_EXPRESSIONS["mac_prefilter"], _EXPRESSIONS["cisco_prefilter"]),
        _find_mac,
    ),
)
