"""Finds placeholders in links that the request did not contain.

Where a link begins and which links the request contained is decided by the rule that also keeps placeholders closed
there (gateway/placeholders/url_policy.py); a value is reported here exactly where it is not restored.

One link is left alone: `http://[IP_ADDRESS_...]:3000/`, to a hidden host that the request named. The host must be one
placeholder and nothing else, for every reader of the text; in doubt it is not.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from gateway.guard.context import Hit
from gateway.guard.patterns import Patterns
from gateway.guard.untrusted_destinations import PHONE, UntrustedDestinations
from gateway.guard.verdict import Kind, Severity
from gateway.placeholders import Found, Placeholders, RestoreScope

_PATTERNS = Patterns(__file__)
_LOADING, _SCHEME, _ACTIVE = map(_PATTERNS.compiled, ("loading", "scheme", "active"))
_UP_TO_HOST, _BEGAN, _INSIDE, _OPENED = map(_PATTERNS.compiled, ("up_to_host", "began", "inside", "opened"))
_BEFORE = 600
_BLANKS = " \t\r\n"
# The end of a host: a port, and then a path or white space, perhaps after the end of a sentence.
_END = re.compile(rf"(?::\d{{1,5}})?(?:/|[.,;:!?*_~|)\]}}]*(?:[{_BLANKS}]|\Z))")
# The same, where a sign opened the link.
_ENDS = {signs[0]: re.compile(rf"(?::\d{{1,5}})?[/{signs[1]}]") for signs in ('""', "''", "``", "()", "<>")}
# What values before a host must not contain.
_SIGNS = re.compile(r"[/\\?#@\s]")
_NUMBER = re.compile(PHONE)
_START = re.compile(r"[^\s\"'<>`]*\Z")
_REST = re.compile(r"[^\s\"'<>`)]*")


def in_links(
    text: str, found: Sequence[Found], placeholders: Placeholders, scope: RestoreScope, untrusted: UntrustedDestinations
) -> Iterator[Hit]:
    """The session's placeholders in such links. A hit covers the link."""
    closed = placeholders.closed(text, found, RestoreScope("source", scope.source_urls))
    last = -1
    for index in sorted(closed):
        hit = found[index]
        if hit.start < last:
            continue
        before = text[max(0, hit.start - _BEFORE) : hit.start]
        scheme = _SCHEME.search(before)
        if scheme and not _does_harm(scheme, text, hit, untrusted):
            continue
        link = _link(text, hit)
        if not scheme and _leads_home(text, link, found, placeholders, untrusted):
            last = link[1]
            continue
        loading = None if scheme else _LOADING.search(before)
        start, last = link
        yield Hit(Kind.PLACEHOLDER_IN_MARKUP if loading else Kind.PLACEHOLDER_IN_URL, start, last, Severity.HIGH)


def _does_harm(scheme: re.Match[str], text: str, hit: Found, untrusted: UntrustedDestinations) -> bool:
    """Whether an address without a server takes a value to an untrusted destination, or into a program."""
    if scheme[3]:
        return scheme[3].lower() != "data" or _ACTIVE.search(unquote(scheme[4])) is not None
    rest = _REST.match(text, hit.end)
    whole = unquote(scheme[2] + text[hit.start : rest.end() if rest else hit.end])
    return untrusted.mailbox(whole) or any(map(untrusted.number, _NUMBER.findall(whole.partition("?")[0])))


def _link(text: str, hit: Found) -> tuple[int, int]:
    """The link around a placeholder, as far as it is sure to be one."""
    first = max(0, hit.start - _BEFORE)
    match = _START.search(text[first : hit.start])
    start = first + match.start() if match else hit.start
    opened = text.rfind("](", start, hit.start)
    rest = _REST.match(text, hit.end)
    return (opened + 2 if opened >= 0 else start), (rest.end() if rest else hit.end)


def _leads_home(
    text: str,
    link: tuple[int, int],
    found: Sequence[Found],
    placeholders: Placeholders,
    untrusted: UntrustedDestinations,
) -> bool:
    """Whether the whole host of `text[link]` is the placeholder of a host that the request named."""
    start, last = link
    inside = found[bisect_left(found, (start,)) : bisect_left(found, (last,))]
    for index, hit in enumerate(inside):
        host = placeholders.get(hit.placeholder)
        if host and untrusted.named_host(host) and _UP_TO_HOST.fullmatch(text, start, hit.start):
            values = [placeholders.get(other.placeholder) for other in inside[:index]]
            return (
                all(value and not _SIGNS.search(value.value) for value in values)
                and _begins(text, start)
                and _ends(text, hit.end, text[start - 1 : start])
                and "//" not in text[hit.end : last]
            )
    return False


def _begins(text: str, at: int) -> bool:
    """Whether a link begins at a place, and is not part of one."""
    opener, before = text[at - 1 : at], text[max(0, at - _BEFORE) : at]
    if (opener not in _BLANKS and opener not in _ENDS) or _BEGAN.search(before):
        return False
    return not _INSIDE.search(before) or _OPENED.search(before) is not None


def _ends(text: str, at: int, opener: str) -> bool:
    """Whether a host ends at a place, with a port at most."""
    return _ENDS.get(opener, _END).match(text, at) is not None
