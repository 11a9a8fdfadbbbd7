"""Finds placeholders in the canonical form that a model has broken over two lines.

    > Write to [EMAIL_
    > ADDRESS_7KQ2M].

The second line may begin as the first one does: with blanks, with the mark of a quotation, and with those of a diff and
of comments. Only a placeholder of the session counts, so that nothing else is ever joined.
"""

import re
from collections.abc import Iterator, Set

from gateway.placeholders.grammar import Found

_LONGEST = 100
_PART = "[A-Za-z0-9_]"
# The end of a line, and what the next one begins with.
_BREAK = r"[ \t]{0,8}\r?\n[ \t>|+*/#;!%-]{0,64}"
_BROKEN = re.compile(rf"\[({_PART}{{1,{_LONGEST}}}+){_BREAK}({_PART}{{0,{_LONGEST}}}+)\]")
# The same without an end. The break may have begun as well.
_BEGUN = re.compile(rf"\[({_PART}{{1,{_LONGEST}}}+)(?:{_BREAK}({_PART}{{0,{_LONGEST}}}+)|[ \t]{{1,8}}\r?|\r)\Z")


def broken(text: str, cores: Set[str]) -> Iterator[Found]:
    """Yields the placeholders in a text that are broken over two lines. `cores` are those of the session."""
    for match in _BROKEN.finditer(text) if "\n" in text else ():
        core = next((each for each in _joined(match[1], match[2]) if each in cores), None)
        if core is not None:
            yield Found(*match.span(), f"[{core}]", exact=False)


def broken_end(text: str, cores: Set[str], end: int) -> int:
    """Returns where a placeholder begins that the end of an incomplete text breaks or may break; `end` if none does."""
    start = text.rfind("[")
    match = _BEGUN.match(text, start) if 0 <= start < end else None
    if match is None:
        return end
    begun = (*_joined(match[1], match[2] or ""),)
    return start if any(core.startswith(begun) for core in cores) else end


def _joined(head: str, tail: str) -> Iterator[str]:
    """Yields the readings of two parts: divided anywhere, or in the place of an underscore."""
    yield (head + tail).upper()
    if tail and not head.endswith("_") and not tail.startswith("_"):
        yield f"{head}_{tail}".upper()
