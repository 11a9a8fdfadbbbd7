"""Marks of a text come in pairs: where one is hidden with a value, the other goes with it if it stands beside.

Of `<b>12 Main</b> Street` a model would else see the first tag and no end of it. What is between stays as it was, to
the byte: it is all one value.
"""

import re
from collections.abc import Iterable, Iterator

from gateway.text.fields import Span

_TAG = r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?:\s[^<>]{0,256})?>"
# Emphasis, code and struck-through text of Markdown (CommonMark, GFM).
_MARK = re.compile(rf"{_TAG}|\*{{1,3}}|`{{1,3}}|~~|\|\|")
_OPENING = re.compile(_TAG)
_LONGEST = 300


def paired(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans, widened by marks that touch them and belong to one inside. They may overlap then."""
    for span in spans:
        start, end = span.start, span.end
        unopened, unclosed = _single(text, start, end)
        for mark in unopened:
            start -= _before(text, start, mark)
        for mark in reversed(unclosed):
            length = 0 if mark[0].isalpha() else _before(text, start, mark)
            start -= length
            closing = f"</{mark}>" if mark[0].isalpha() else mark
            if not length and text[end : end + len(closing)].lower() == closing:
                end += len(closing)
        yield span if end - start == span.end - span.start else span._replace(start=start, end=end)


def _single(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    """Marks between two offsets whose other one is not: those that close and those that open, tags by their names."""
    unopened: list[str] = []
    unclosed: list[str] = []
    for found in _MARK.finditer(text, start, end):
        mark = (found["name"] or found[0]).lower()
        closes = found["end"] == "/" or (found["name"] is None and mark in unclosed)
        if not closes:
            unclosed.append(mark)
        elif mark in unclosed:
            del unclosed[len(unclosed) - 1 - unclosed[::-1].index(mark) :]
        else:
            unopened.append(mark)
    return unopened, unclosed


def _before(text: str, at: int, mark: str) -> int:
    """The length of the mark, or of the tag of that name, that ends at an offset."""
    if not mark[0].isalpha():
        return len(mark) if text.endswith(mark, 0, at) else 0
    opening = text.rfind("<", max(0, at - _LONGEST), at)
    tag = _OPENING.fullmatch(text, opening, at) if opening >= 0 else None
    return at - opening if tag and not tag["end"] and tag["name"].lower() == mark else 0
