"""Finds the stretches of a text that are source code, less the comments and strings in it.

Lines count as code by their syntax, whatever the language, where several follow each other. A fenced block (CommonMark
0.31, section 4.5) that names a language is code. Offsets are code points.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

type Stretch = tuple[int, int]

_LINE_END = re.compile(r"\n")
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)", re.MULTILINE)
_PROSE_LANGUAGES = frozenset({"", "text", "txt", "plain", "plaintext", "markdown", "md", "email", "csv"})
# Numbers of lines, as tools and diffs show them.
_MARGIN = re.compile(r"\s*(?:\d{1,6}\s*[→|:\t]|[+-](?=[^+-]))\s*|\s+")
_KEYWORD = re.compile(
    r"(?:def|class|import|from|return|if|elif|else|for|foreach|while|switch|case|public|private|protected|static|const|let"
    r"|var|val|func|fn|fun|function|package|using|namespace|struct|enum|interface|trait|type|impl|pub|async|await|try|catch"
    r"|except|raise|throw|with|export|module|require|local|#include|#define|#if\w*|SELECT|INSERT|UPDATE|CREATE|DROP|ALTER"
    r")\b(?=.*[(){}\[\];:=<>.])|from\s+[\w.]+\s+import\b|import\s+[\w.]+(?:\s+as\s+\w+)?\Z"
)
_ENDING = re.compile(r"(?:[;{}\[(,]|\):|=>|->|\\)\Z")
_ALONE = re.compile(r"[\s{}()\[\];,]+\Z|(?:end|else:?|fi|done|try:|finally:|begin)\Z", re.IGNORECASE)
_OPERATOR = re.compile(r"[=!:+\-*|]=|[=-]>|::|&&|\|\||</\w|/>|\$\{|\*\*\w")
_CALL = re.compile(r"\w\(")
_ASSIGNMENT = re.compile(r"[A-Za-z_$@][\w.\[\]\"'$]*(?:\s*:\s*[\w\[\], |.]+)?\s*=\s*\S")
_IDENTIFIER = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|\w\.\w+\.\w")
_COMMENT = re.compile(r"(?://|#|/\*|\*|--|<!--|\"\"\"|''')")
_WORDS_OF_SENTENCE = 5
_ENOUGH = 2
_AROUND = 3
"""Lines before and after a line that show whether it is part of code."""
_MOST_LINES = 1000
"""Lines of code around a line that are searched for the beginnings of comments and strings."""
_LONGEST_LINE = 1000
"""Characters of a line that show what it is."""
_NOT_CODE = re.compile(
    r'"""[\s\S]*?(?:"""|\Z)' + r"|'''[\s\S]*?(?:'''|\Z)|/\*[\s\S]*?(?:\*/|\Z)|<!--[\s\S]*?(?:-->|\Z)"
    r"|(?<![:\w])//[^\n]*|(?<![\w$&{])#(?!include\b|define\b|if|el|end|undef\b|pragma\b|\[|!\[)[^\n]*"
    r"|(?:(?<=\s)|(?<=\A))--\s[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`'
)


class SourceCode:
    """The stretches of code in a text. Only the lines around what is asked for are read."""

    __slots__ = ("_fenced", "_flags", "_scores", "_starts", "_stretches", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._fenced = _fenced(text, self._starts) if "```" in text or "~~~" in text else {}
        self._scores: dict[int, int] = {}
        self._flags: dict[int, bool] = {}
        self._stretches: dict[tuple[int, int], Sequence[Stretch]] = {}

    def has(self, start: int, end: int) -> bool:
        """Returns whether a span is, at least in part, in code."""
        first, last = (bisect_right(self._starts, at) - 1 for at in (start, end - 1))
        return any(self._is_code(line) and is_within(self._around(line), start, end) for line in range(first, last + 1))

    def stretches(self) -> list[Stretch]:
        """Returns all stretches of code in order, without comments and strings."""
        found: list[Stretch] = []
        line = 0
        while line < len(self._starts):
            last = line
            while last < len(self._starts) and self._is_code(last):
                last += 1
            if last > line:
                found += _without_prose(self._text, self._starts[line], self._end(last - 1))
            line = max(last, line + 1)
        return found

    def _around(self, line: int) -> Sequence[Stretch]:
        """Returns the stretches of the lines of code around a line of code."""
        first = last = line
        while first > max(0, line - _MOST_LINES) and self._is_code(first - 1):
            first -= 1
        while last < min(len(self._starts) - 1, line + _MOST_LINES) and self._is_code(last + 1):
            last += 1
        if (first, last) not in self._stretches:
            self._stretches[first, last] = [*_without_prose(self._text, self._starts[first], self._end(last))]
        return self._stretches[first, last]

    def _end(self, line: int) -> int:
        return self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)

    def _is_code(self, line: int) -> bool:
        if line in self._fenced:
            return self._fenced[line]
        if line not in self._flags:
            score = self._score(line)
            near = range(max(0, line - _AROUND), min(len(self._starts), line + _AROUND + 1))
            around = [self._score(each) for each in near if each not in self._fenced]
            others = sum(each >= _ENOUGH for each in around) - (score >= _ENOUGH)
            # One line of code within prose needs more, and one of prose within code less.
            self._flags[line] = (score >= _ENOUGH and (others > 0 or score > _ENOUGH)) or (
                score > -_ENOUGH and others >= _AROUND - (score >= 0) and sum(around) >= _ENOUGH * _AROUND - 1
            )
        return self._flags[line]

    def _score(self, line: int) -> int:
        if line not in self._scores:
            start = self._starts[line]
            self._scores[line] = _score(self._text[start : min(self._end(line), start + _LONGEST_LINE)])
        return self._scores[line]


def is_within(stretches: Sequence[Stretch], start: int, end: int) -> bool:
    """Returns whether a span overlaps one of the stretches, which are in order."""
    at = bisect_right(stretches, (end - 1, len(stretches) and stretches[-1][1])) - 1
    return at >= 0 and stretches[at][0] < end and start < stretches[at][1]


def _fenced(text: str, starts: Sequence[int]) -> dict[int, bool]:
    """Returns the lines of fences, and those within fences that name a language, with whether they are code."""
    lines: dict[int, bool] = {}
    fence, is_named, after = "", False, 0
    for found in _FENCE.finditer(text):
        if fence and not (found[1].startswith(fence) and not found[2]):
            continue
        line = bisect_right(starts, found.start()) - 1
        if fence and is_named:
            lines |= dict.fromkeys(range(after, line), True)
        fence, is_named = ("", False) if fence else (found[1], found[2].lower() not in _PROSE_LANGUAGES)
        lines[line], after = False, line + 1
    if fence and is_named:
        lines |= dict.fromkeys(range(after, len(starts)), True)
    return lines


def _score(line: str) -> int:
    """Returns how much of its syntax is that of code; negative for prose, 0 for a blank line."""
    margin = _MARGIN.match(line)
    content = line[margin.end() :].rstrip() if margin else line.rstrip()
    if not content:
        return 0
    if _ALONE.match(content) or _COMMENT.match(content):
        return 1
    is_statement = _KEYWORD.match(content) is not None
    score = 2 * is_statement
    score += sum(each.search(content) is not None for each in (_ENDING, _OPERATOR, _CALL, _IDENTIFIER)) + (
        _ASSIGNMENT.match(content) is not None
    )
    words = content.split()
    plain = sum(word.rstrip(",;:.").isalpha() for word in words)
    if plain >= _WORDS_OF_SENTENCE and plain * 3 > len(words) * 2 and not (is_statement and content.endswith(";")):
        score -= 3
    return max(score, -3)


def _without_prose(text: str, start: int, end: int) -> Iterator[Stretch]:
    for found in _NOT_CODE.finditer(text, start, end):
        if start < found.start():
            yield start, found.start()
        start = found.end()
    if start < end:
        yield start, end
