"""Finds the stretches of a text that are source code, less the comments and strings in it.

Lines count as code by their syntax, whatever the language, where several follow each other. A fenced block (CommonMark
0.31, section 4.5) that names a language is code. Offsets are code points.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

type Stretch = tuple[int, int]

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
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
_NOT_CODE = re.compile(
    r'"""[\s\S]*?(?:"""|\Z)' + r"|'''[\s\S]*?(?:'''|\Z)|/\*[\s\S]*?(?:\*/|\Z)|<!--[\s\S]*?(?:-->|\Z)"
    r"|(?<![:\w])//[^\n]*|(?<![\w$&{])#(?!include\b|define\b|if|el|end|undef\b|pragma\b|\[|!\[)[^\n]*"
    r"|(?:(?<=\s)|(?<=\A))--\s[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`'
)


def code_stretches(text: str) -> list[Stretch]:
    """Returns the stretches of code in order, without comments and strings."""
    return [piece for start, end in _regions(text) for piece in _without_prose(text, start, end)]


def is_within(stretches: Sequence[Stretch], start: int, end: int) -> bool:
    """Returns whether a span overlaps one of the stretches, which are in order."""
    at = bisect_right(stretches, (end - 1, len(stretches) and stretches[-1][1])) - 1
    return at >= 0 and stretches[at][0] < end and start < stretches[at][1]


def _regions(text: str) -> Iterator[Stretch]:
    """Yields the runs of lines that are code."""
    lines = [match.span() for match in _LINE.finditer(text) if match[0]]
    flags = _flags(text, lines)
    first: int | None = None
    for number, is_code in enumerate([*flags, False]):
        if is_code and first is None:
            first = number
        elif not is_code and first is not None:
            yield lines[first][0], lines[number - 1][1]
            first = None


def _flags(text: str, lines: Sequence[Stretch]) -> list[bool]:
    flags: list[bool] = []
    loose: list[tuple[int, int]] = []
    fence, is_named = "", False
    for start, end in lines:
        found = _FENCE.match(text, start, end)
        if found and (not fence or (found[1].startswith(fence) and not found[2])):
            fence, is_named = ("", False) if fence else (found[1], found[2].lower() not in _PROSE_LANGUAGES)
            flags.append(False)
            continue
        flags.append(is_named)
        if not is_named:
            loose.append((len(flags) - 1, _score(text[start:end])))
    for place, (number, score) in enumerate(loose):
        around = [each for _, each in loose[max(0, place - _AROUND) : place + _AROUND + 1]]
        total = sum(around)
        others = sum(each >= _ENOUGH for each in around) - (score >= _ENOUGH)
        # One line of code within prose needs more, and one of prose within code less.
        flags[number] = (score >= _ENOUGH and (others > 0 or score > _ENOUGH)) or (
            score > -_ENOUGH and others >= _AROUND - (score >= 0) and total >= _ENOUGH * _AROUND - 1
        )
    return flags


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
