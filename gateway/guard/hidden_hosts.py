"""Links to a hidden host that the request named: `http://[IP_ADDRESS_…]:3000/`. What goes there goes to no stranger.

The host must be one placeholder and nothing else, for every reader of the text. Where that is in doubt, it is not so.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from gateway.guard.untrusted_destinations import UntrustedDestinations
from gateway.placeholders import Found, Placeholders

_BEFORE = 600
# A link up to its host; what may stand behind one that ends it; what values before it must not hold.
_UP_TO_HOST = re.compile(r"[(\[{*_]*(?:\w+=)?[a-z][a-z0-9+.-]{1,20}://(?:[^/\\?#@]*@)?", re.IGNORECASE)
_PORT = re.compile(r"(?::\d{1,5})?")
_BLANKS = " \t\r\n"
_SENTENCE_ENDS = re.compile(rf"[.,;:!?*_~|)\]}}]*(?:[{_BLANKS}]|\Z)")
_SIGNS = re.compile(r"[/\\?#@\s]")
_CLOSING = {'"': '"', "'": "'", "`": "`", "(": ")", "<": ">"}
# What shows that a link began before: a quote or white space does not end every one, and not in markup.
_BEGAN = re.compile(rf"(?://|www\.|\w\.\w{{2,24}}[/?#])[^{_BLANKS}]*\Z", re.IGNORECASE)
_INSIDE = re.compile(r"<[a-z][^<>]*\Z|(?:\]\(|\burl\()[^)\n]*\Z|\]:[ \t]*\S*\Z", re.IGNORECASE)
_OPENED = re.compile(
    r"\]\(<?\Z|\]:[ \t]*\Z|\burl\([\"']?\Z|<[a-z][\w-]*\s(?:[^\"'<>]|\"[^\"]*\"|'[^']*')*=[\"']\Z", re.IGNORECASE
)


def leads_home(
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
    if (opener not in _BLANKS and opener not in _CLOSING) or _BEGAN.search(before):
        return False
    return not _INSIDE.search(before) or _OPENED.search(before) is not None


def _ends(text: str, at: int, opener: str) -> bool:
    """Whether a host ends at a place, with a port at most."""
    port = _PORT.match(text, at)
    end = port.end() if port else at
    following = text[end : end + 1]
    if opener in _CLOSING:
        return following in ("/", _CLOSING[opener])
    return following == "/" or _SENTENCE_ENDS.match(text, end) is not None
