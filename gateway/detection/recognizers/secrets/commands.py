"""Finds passwords on command lines and in what commands print. Rules: `command_lines.toml`, `printed.toml`."""

from collections.abc import Iterator

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import checked, span_of, table

_USER = compile_pattern(
    r"(?:\s-u|--(?:proxy-)?user|-[a-zA-Z]{1,4}u|\b(?:https?|xh) -a)(?:[ \t]{1,4}|=)"
    r"(?:\"([^\"\n]*\":\"[^\"\n]+)\"|\"([^\"\n]*)\"|'([^'\n]*)'|([^\s\"':]+:[^\s\"']{4,}))"
)
_LOGIN_TOOL = compile_pattern(r"(?i)\b(?:curl|wget|https?|xh|httpie)\b")
_LONGEST_PAIR, _NEAR = 512, 600
_LISTED = compile_pattern(r"\bchpasswd\b[^\n]*\n")
_ACCOUNT = compile_pattern(r"[ \t\-\"']*[a-z_][\w.\-]*:([^\s:\"']+)[\"']?[ \t]*\r?(?:\n|$)")
_OTHER = compile_pattern(r"[ \t]*(?:\w+:(?:[ \t][^\n]*)?)?\r?\n")
_MOST_LINES = 64


def _users(normalized: NormalizedText) -> Iterator[Match]:
    """The whole pair: with the name, half of what opens the door would be told."""
    for match in _USER.finditer(normalized.data):
        start, end = span_of(match)
        user, colon, password = (part.strip("\"'") for part in normalized.text(start, end).partition(":"))
        if not colon or end - start > _LONGEST_PAIR or not _is_pair(user, password):
            continue
        sure = match[0].lstrip()[:2] != b"-u" or _LOGIN_TOOL.search(normalized.data, max(0, start - _NEAR), start)
        if sure or values.is_strong(password):
            yield Match(start, end, 0.9, checks.PASSWORD.name)


def _is_pair(user: str, password: str) -> bool:
    if not password:
        return values.is_strong(user)
    if values.is_stand_in(password) or (
        len(user) > 3 and values.is_stand_in(user) and not values.is_strong(password.strip("{}"))
    ):
        return False
    return len(password) >= 4 and not password.startswith("//") and (password != user)


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


RECOGNIZERS = (table("command_lines", {"users": _users}), table("printed", {"listed": _listed}))
