"""Finds placeholders, plain or encoded, and encoded values in links that the request did not contain.

Where a link begins and which links the request contained is decided by the rule that also keeps placeholders closed
there (`gateway.destinations`); a value is reported here exactly where it is not restored.

One link is left alone: `http://[IP_ADDRESS_...]:3000/`, to a hidden host that the request named.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from gateway.destinations.patterns import Patterns, matches
from gateway.destinations.trust import HOST, UntrustedDestinations
from gateway.guard.context import GuardContext
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Found, RestoreScope, looks_like_placeholder

_PATTERNS = Patterns(__file__)
_URL = _PATTERNS.expression("<<url>>")
_LOADING, _SCHEME, _ACTIVE, _TO_HOST = map(_PATTERNS.compiled, ("loading", "scheme", "active", "to_host"))
_SIGNS, _START, _REST = map(_PATTERNS.compiled, ("signs", "start", "rest"))
_BEFORE = 600
# The hidden values that can be a host.
_HOST_TYPES = frozenset({"IP_ADDRESS", "URL"})
_HOST = re.compile(HOST, re.IGNORECASE)


def in_links(text: str, context: GuardContext) -> Iterator[Hit]:
    """The session's placeholders in such links. A hit covers the link."""
    scope = RestoreScope("source", context.scope.source_urls)
    hits = context.placeholders.scan(text)
    closed = context.placeholders.closed(text, hits, scope)
    last = -1
    for hit in hits:
        if hit.start < last or all(_leads_home(address, context) for address in closed.get(hit.start, ())):
            continue
        before = text[max(0, hit.start - _BEFORE) : hit.start]
        scheme = _SCHEME.search(before)
        start, end = _link(text, hit)
        if scheme and not _does_harm(scheme, text[hit.start : end], context.untrusted):
            continue
        loading = None if scheme else _LOADING.search(before)
        kind = Kind.PLACEHOLDER_IN_MARKUP if loading else Kind.PLACEHOLDER_IN_URL
        last = end
        yield Hit(kind, start, end, Severity.HIGH)


def encoded_in_links(text: str, found: Sequence[Found], context: GuardContext) -> Iterator[Hit]:
    """Links without a placeholder in which one, its tag or a value is encoded."""
    for start, (address,) in matches(_URL, text):
        if any(start <= hit.start < start + len(address) for hit in found):
            continue
        link = address.rstrip(").,;:!?*_~|]")
        if context.values.are_hidden_in(link) and not context.source.holds(link):
            yield Hit(Kind.ENCODED_EXFILTRATION, start, start + len(link), Severity.HIGH)


def _leads_home(address: str, context: GuardContext) -> bool:
    """Whether the whole host of an address is the placeholder of a host that the request named."""
    value_of = context.placeholders.get
    match = _TO_HOST.fullmatch(address)
    host = value_of(f"{match['host']}]") if match else None
    if not match or not host or host.type not in _HOST_TYPES or not _HOST.fullmatch(host.value):
        return False
    if not context.untrusted.source.holds(host.placeholder):
        return False
    users = [value_of(hit.placeholder) for hit in looks_like_placeholder(match["user"] or "")]
    return all(user and not _SIGNS.search(user.value) for user in users)


def _does_harm(scheme: re.Match[str], rest: str, untrusted: UntrustedDestinations) -> bool:
    """Whether an address without a server takes a value to an untrusted destination, or into a program."""
    if scheme[3]:
        return scheme[3].lower() != "data" or _ACTIVE.search(unquote(scheme[4])) is not None
    whole = unquote(scheme[2] + rest)
    return bool(untrusted.mailboxes(whole) or untrusted.numbers(whole.partition("?")[0]))


def _link(text: str, hit: Found) -> tuple[int, int]:
    """The link around a placeholder, as far as it is sure to be one."""
    first = max(0, hit.start - _BEFORE)
    match = _START.search(text[first : hit.start])
    start = first + match.start() if match else hit.start
    opened = text.rfind("](", start, hit.start)
    rest = _REST.match(text, hit.end)
    return (opened + 2 if opened >= 0 else start), (rest.end() if rest else hit.end)
