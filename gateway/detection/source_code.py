"""Finds the stretches of a text that are source code, less the comments and strings in it. Offsets are code points.

A line is code or not by a linear model over short sequences of its signs and kinds of words (`code_lines.json`, trained
by training/code_lines.py on twenty languages), and by the lines around it: a Markov chain, since code rarely begins or
ends. Within a line, the signs that languages share mark comments and strings.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from math import exp, log
from pathlib import Path

type Stretch = tuple[int, int]

_LINE_END = re.compile(r"\n")
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)", re.MULTILINE)
# Blocks of data, text or what a terminal shows (CommonMark 0.31, section 4.5).
_OTHER_LANGUAGES = frozenset(
    "text txt plain plaintext markdown md email csv json yaml yml toml ini log console shell-session".split()
)
# Numbers of lines, as tools and diffs show them.
_MARGIN = re.compile(r"\s*(?:\d{1,6}\s*[→|:\t]|[+-](?=[^+-]))\s*|\s+")
# How a comment or string of several lines begins, and how each of these ends.
_BEGINS = re.compile(r"\"\"\"|'''|/\*|<!--|^=begin\b", re.MULTILINE)
_ENDS = {'"""': '"""', "'''": "'''", "/*": "*/", "<!--": "-->", "=begin": "\n=end"}
_STRING = (
    r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])*\'|`(?:\\.|[^`\\])*`|(?<=>)[^<>{}]+(?=</)'
    r"""|(?<==)[ ]?\{[^{}();=:"'<>]*\}"""
)
_NO_CODE = re.compile(
    r'"""(?:.*?"""|.*)' + r"|'''(?:.*?'''|.*)|/\*(?:.*?\*/|.*)|<!--(?:.*?-->|.*)"
    r"|(?<![:\w])//.*|(?<![\w$&{\"'])#(?!\[|(?:include|define|if|ifdef|ifndef|elif|else|endif|undef|pragma|[\da-f]{3,8})\b).*"
    r"|(?:(?<=\s)|(?<![^+-]))--(?:\s.*|\[\[.*)"
    rf"|{_STRING}|`.*"
)
_NO_CODE_IN_LONG_LINE = re.compile(rf"/\*.*?\*/|{_STRING}")
"""Without comments that end with the line: a program in one line has none."""
# Variables within strings.
_INSERTED = re.compile(r"[$#]\{[^{}]*\}|\$\w+")
_QUOTES = "\"'`"
_INLINE = re.compile(r"`([^`\n]{2,200})`")

_TOKEN = re.compile(r"[^\W\d][A-Za-z0-9_\x80-\U0010ffff]*|\d[\w.]*|[ \t]+|\S")
_MOST_TOKENS, _LONGEST_WORD = 60, 12
_LONGEST_LINE = 1000
"""Characters of a line that show what it is."""
_LONGEST_STRING = 100
"""Characters of a string in a longer line that need not be looked at."""
_AROUND = 8
"""Lines before and after a line that are asked for what it is."""
_CLEAR = 5.0
"""The log odds of a line that needs no others."""
_CHANGE = 0.1
"""The probability that a line of code is followed by one of another kind, and the reverse."""
_FENCED = 6.0
"""The log odds that a fence with the name of a language adds."""
_FENCE_ITSELF = -100.0
_LEAST = 1.5
"""The log odds from which on a line is code."""
_WITHIN_COMMENT = 3.0
"""The log odds that a line within a comment or string of several lines needs to be code."""


class SourceCode:
    """The stretches of code in a text. Only the lines around what is asked for are read."""

    __slots__ = ("_fenced", "_flags", "_scores", "_several", "_starts", "_stretches", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._fenced = _fenced(text, self._starts) if "```" in text or "~~~" in text else {}
        self._several = list(_of_several_lines(text))
        self._scores: dict[int, float] = {}
        self._flags: dict[int, bool] = {}
        self._stretches: dict[int, Sequence[Stretch]] = {}

    def has(self, start: int, end: int) -> bool:
        """Returns whether a span is, at least in part, in code."""
        return any(True for _ in self.within(start, end))

    def within(self, start: int, end: int) -> Iterator[Stretch]:
        """Yields the stretches of code that a span overlaps, each within its line."""
        first, last = (bisect_right(self._starts, at) - 1 for at in (start, end - 1))
        for line in range(first, last + 1):
            stretches = self._in_line(line)
            for one in stretches[max(0, bisect_right(stretches, (start,)) - 1) :]:
                if one[0] >= end:
                    break
                if one[1] > start:
                    yield one

    def _in_line(self, line: int) -> Sequence[Stretch]:
        if line not in self._stretches:
            start, end = self._starts[line], self._end(line)
            pieces = _without_prose(self._text, start, end) if self._is_code(line) else self._inline(start, end)
            self._stretches[line] = list(pieces)
        return self._stretches[line]

    def _inline(self, start: int, end: int) -> Iterator[Stretch]:
        """Yields what is marked as code within a line of text (CommonMark 0.31, section 6.1)."""
        for found in _INLINE.finditer(self._text, start, end):
            if _score(found[1]) > 0:
                yield from _without_prose(self._text, *found.span(1))

    def _end(self, line: int) -> int:
        return self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)

    def _is_code(self, line: int) -> bool:
        if line not in self._flags:
            self._flags[line] = self._score(line) != 0 and self._judged(line)
        return self._flags[line]

    def _judged(self, line: int) -> bool:
        score = self._score(line)
        if self._is_within_several(line):
            return score > _WITHIN_COMMENT
        if abs(score) >= _CLEAR:
            return score > 0
        before = self._from(range(max(0, line - _AROUND), line))
        after = self._from(range(min(len(self._starts) - 1, line + _AROUND), line, -1))
        return score + before + after > _LEAST

    def _is_within_several(self, line: int) -> bool:
        """Returns whether a line is within a comment or string that began before it, or ends after it."""
        start, end = self._starts[line], self._end(line)
        at = bisect_right(self._several, (start,)) - 1
        return at >= 0 and self._several[at][0] < start < end <= self._several[at][1]

    def _from(self, lines: range) -> float:
        """Returns the log odds that follow for the next line from these, in order."""
        odds = 0.0
        for line in lines:
            if self._fenced.get(line) == _FENCE_ITSELF:
                odds = 0.0
                continue
            score = 0.0 if self._is_within_several(line) else self._score(line)
            odds = exp(max(-_CLEAR, min(_CLEAR, odds + score)))
            odds = log(((1 - _CHANGE) * odds + _CHANGE) / (_CHANGE * odds + 1 - _CHANGE))
        return odds

    def _score(self, line: int) -> float:
        """Returns the log odds that a line is code, by itself; 0 for a blank one."""
        if line not in self._scores:
            start = self._starts[line]
            score = _score(self._text[start : min(self._end(line), start + _LONGEST_LINE)])
            self._scores[line] = score + self._fenced.get(line, 0.0) if score else 0.0
        return self._scores[line]


def _of_several_lines(text: str) -> Iterator[Stretch]:
    """Yields the comments and strings that may have several lines, in order. What does not end is none."""
    unclosed: set[str] = set()
    at = 0
    while found := _BEGINS.search(text, at):
        at = found.end()
        if found[0] not in unclosed:
            end = text.find(_ENDS[found[0]], at)
            if end >= 0:
                at = end + len(_ENDS[found[0]])
                yield found.start(), at
            else:
                unclosed.add(found[0])


def _fenced(text: str, starts: Sequence[int]) -> dict[int, float]:
    """Returns the lines of fences and those between them, with what that adds to their log odds."""
    lines: dict[int, float] = {}
    fence, odds, after = "", 0.0, 0
    for found in _FENCE.finditer(text):
        if fence and not (found[1].startswith(fence) and not found[2]):
            continue
        line = bisect_right(starts, found.start()) - 1
        if fence:
            lines |= dict.fromkeys(range(after, line), odds)
        language = found[2].lower()
        odds = 0.0 if not language else -_FENCED if language in _OTHER_LANGUAGES else _FENCED
        fence = "" if fence else found[1]
        lines[line], after = _FENCE_ITSELF, line + 1
    if fence:
        lines |= dict.fromkeys(range(after, len(starts)), odds)
    return lines


def _score(line: str) -> float:
    found = grams(line)
    weights = _weights()
    return weights[""] + sum(weights.get(gram, 0.0) for gram in found) if found else 0.0


@cache
def _weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(Path(__file__).with_name("code_lines.json").read_text("utf-8"))
    return weights


def grams(line: str) -> set[str]:
    """Returns the sequences of a line that tell code from other text: words, and signs with the kinds of words."""
    margin = _MARGIN.match(line)
    content = _NO_CODE.sub(_emptied, line[margin.end() :] if margin else line).rstrip()
    tokens = _TOKEN.findall(content)[:_MOST_TOKENS]
    if not tokens:
        return set()
    shapes = ["^", *map(_shape, tokens), "$"]
    found = {one + two for one, two in pairwise(shapes)}
    found.update(one + two + three for one, two, three in zip(shapes, shapes[1:], shapes[2:], strict=False))
    found.update(f"w:{one.lower()}" for one in tokens if one[0].isalpha() and len(one) <= _LONGEST_WORD)
    if tokens[0][0].isalpha():
        found.add(f"f:{tokens[0][:_LONGEST_WORD]}")
    return found


def _emptied(found: re.Match[str]) -> str:
    """Returns a string without what is in it, and nothing of a comment or the text of an element."""
    sign = found[0][0]
    return sign + sign if sign in _QUOTES else ""


def _shape(token: str) -> str:
    """Returns the kind of a word (small letters, a capital first, capitals, other identifiers), or the sign itself."""
    first = token[0]
    if first.isalpha() or first == "_":
        if token.lower() == token:
            return "a" if token.isalpha() else "i"
        if token.isupper():
            return "X" if len(token) > 1 else "A"
        return "A" if token.isalpha() and token[1:].islower() else "I"
    if first.isdigit():
        return "9"
    return " " if first in " \t" else first


def _without_prose(text: str, start: int, end: int) -> Iterator[Stretch]:
    """Yields the parts of a line outside comments and strings, and the variables in strings."""
    is_long = end - start > _LONGEST_LINE
    at = start
    while found := (_NO_CODE_IN_LONG_LINE if is_long else _NO_CODE).search(text, at, end):
        # In a program in one line, a single sign too many turns strings and code round.
        if is_long and len(found[0]) > _LONGEST_STRING and _score(found[0][:_LONGEST_LINE]) > 0:
            at = found.start() + 1
            continue
        if start < found.start():
            yield start, found.start()
        if found[0][0] in _QUOTES:
            yield from (inserted.span() for inserted in _INSERTED.finditer(text, *found.span()))
        start = at = found.end()
    if start < end:
        yield start, end
