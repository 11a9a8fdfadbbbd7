"""Finds passwords in the output of terminals. Rules: `printed.toml`."""

from collections.abc import Iterator

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets._locator import checked, table

_LISTED = compile_pattern(r"\bchpasswd\b[^\n]*\n")
_ACCOUNT = compile_pattern(r"[ \t\-\"']*[a-z_][\w.\-]*:([^\s:\"']+)[\"']?[ \t]*\r?(?:\n|$)")
_OTHER = compile_pattern(r"[ \t]*(?:\w+:(?:[ \t][^\n]*)?)?\r?\n")
_MOST_LINES = 64


def _listed(normalized: NormalizedText) -> Iterator[Match]:
    """`user:password`, line by line; words that have a place of their own in such a list are stepped over."""
    data = normalized.data
    at = 0
    while (head := _LISTED.search(data, at)) is not None:
        at = head.end()
        for _ in range(_MOST_LINES):
            if (account := _ACCOUNT.match(data, at)) is not None:
                yield from checked(normalized, *account.span(1), checks.mixed, 0.75)
                at = account.end()
            elif (other := _OTHER.match(data, at)) is not None:
                at = other.end()
            else:
                break


RECOGNIZERS = (table("printed", {"listed": _listed}),)
