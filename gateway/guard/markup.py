"""HTML forms that take what stands in them to a stranger."""

import re
from collections.abc import Sequence

from gateway.guard.untrusted_destinations import Strangers

_FORM = re.compile(r"<form\b([^>]{0,2000})>(.*?)(?:</form\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_VALUE = r"\s*=\s*(?:\"([^\"]{0,2000})\"|'([^']{0,2000})'|([^\s>\"']{1,2000}))"
_ACTION = re.compile(rf"\b(?:form)?action{_VALUE}", re.IGNORECASE)
_BASE = re.compile(rf"<base\b[^>]{{0,200}}\bhref{_VALUE}", re.IGNORECASE)
_ELSEWHERE = re.compile(r"<(?:input|textarea|select|button|output)\b[^>]{0,600}\bform\s*=", re.IGNORECASE)


def posted(text: str, places: Sequence[int], strangers: Strangers) -> set[int]:
    """Those of the `places` that stand in a form whose button sends it to a stranger."""
    taken: set[int] = set()
    moved = any(strangers.address(_value(base)) for base in _BASE.finditer(text))
    for form in _FORM.finditer(text):
        actions = [_value(action) for action in _ACTION.finditer(text, *form.span())]
        if any(strangers.address(action) or (moved and ":" not in action) for action in actions):
            # Fields can belong to a form without standing in it.
            everywhere = _ELSEWHERE.search(text) is not None
            taken.update(place for place in places if everywhere or form.start() <= place < form.end())
    return taken


def _value(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)
