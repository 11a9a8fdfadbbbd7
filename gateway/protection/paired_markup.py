"""Widens spans so that paired markup is hidden together.

In `<b>12 Main</b> Street`, hiding the address would otherwise leave an opening tag without its end. The text between
belongs to the value and is restored byte for byte.
"""

import re
from collections.abc import Iterable, Iterator

from gateway.text.fields import Span

_TAG = r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?:\s[^<>]{0,256})?>"
# Emphasis, code and struck-through text of Markdown (CommonMark, GFM).
_MARK = re.compile(rf"{_TAG}|\*{{1,3}}|`{{1,3}}|~~|\|\|")
_OPENING = re.compile(_TAG)
_LONGEST = 300


def with_paired_markup(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yields the spans, widened by adjacent marks whose counterpart is inside. The result may overlap."""
    for span in spans:
        start, end = span.start, span.end
        unopened, unclosed = _unpaired(text, start, end)
        for mark in unopened:
            start -= _before(text, start, mark)
        for mark in reversed(unclosed):
            length = 0 if mark[0].isalpha() else _before(text, start, mark)
            start -= length
            closing = f"</{mark}>" if mark[0].isalpha() else mark
            if not length and text[end : end + len(closing)].lower() == closing:
                end += len(closing)
        yield span if end - start == span.end - span.start else span._replace(start=start, end=end)


def _unpaired(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    """Returns the closing and the opening marks between two offsets that lack their counterpart, tags by name."""
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
    """Returns the length of the mark, or of the tag of that name, that ends at an offset."""
    if not mark[0].isalpha():
        return len(mark) if text.endswith(mark, 0, at) else 0
    opening = text.rfind("<", max(0, at - _LONGEST), at)
    tag = _OPENING.fullmatch(text, opening, at) if opening >= 0 else None
    return at - opening if tag and not tag["end"] and tag["name"].lower() == mark else 0
