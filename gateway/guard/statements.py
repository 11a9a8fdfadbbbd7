"""Splits text into statements, the unit in which code and commands send something.

One splitter serves shells, programs and scripts: statements end at lines, semicolons, pipes and blocks, unless brackets
or quotes hold them together. In doubt a statement is longer, which keeps more placeholders closed, not fewer. Linear in
the text.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from gateway.destinations.patterns import Patterns

_TOKEN = Patterns(__file__).compiled("token", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"\n[ \t]*(\w+)\b")
# A brace after one of these opens a literal or an expansion; any other one opens a block.
_LITERAL = "=([,:?$@"


@dataclass(slots=True)
class Statement:
    """`text[start:end]`; `said` is that with its here-documents. `is_piped`: it reads what the one before it prints."""

    start: int
    end: int = 0
    said: str = ""
    is_piped: bool = False
    is_code: bool = True
    documents: list[tuple[int, int]] = field(default_factory=list)


def split_statements(text: str, *, is_code: bool) -> list[Statement]:
    """The statements of a text in their order. `is_code`: all of it is code, and not prose that may contain some."""
    splitter = _Splitter(text, is_code=is_code)
    position = 0
    while token := _TOKEN.search(text, position):
        position = splitter.read(token)
    splitter.end(len(text), len(text))
    return splitter.statements


class _Splitter:
    def __init__(self, text: str, *, is_code: bool) -> None:
        self._text = text
        # Code altogether, in a fence, in a script.
        self._code = [is_code, False, False]
        self._brackets: list[str] = []
        self._now = Statement(0)
        self._document_end = 0
        # Where lines begin, by their first words: one of these ends a here-document.
        self._lines: defaultdict[str, list[int]] = defaultdict(list)
        for line in _LINE.finditer(text):
            self._lines[line[1]].append(line.start())
        self.statements: list[Statement] = []

    def end(self, at: int, next_start: int, *, is_pipe: bool = False) -> None:
        """Ends the current statement. One of white space alone is none."""
        self._now.end = at
        self._now.said = "\n".join(self._text[a:b] for a, b in ((self._now.start, at), *self._now.documents))
        self._now.is_code = any(self._code) or self._text[self._now.start - 1 : self._now.start] == "`"
        if not self.statements or self._text[self._now.start : at].strip():
            self.statements.append(self._now)
        self._now = Statement(next_start, is_piped=is_pipe)

    def read(self, token: re.Match[str]) -> int:
        """Processes a token and returns where to look for the next one."""
        start, end = token.span()
        innermost = self._brackets[-1] if self._brackets else ""
        match token.lastgroup:
            case "fence":
                self._code[1:] = not self._code[1], False
                self._brackets.clear()
                self.end(start, end)
            case "script":
                self._code[2] = token[0][1] != "/"
                self._brackets.clear()
                self.end(start, end)
            case "string" if not any(self._code) and "\n" in token[0]:
                return start + 1
            case "comment" if any(self._code) and not innermost:
                self.end(start, end)
            case "document" if start >= self._document_end:
                lines = self._lines[token["document"]]
                if (closing := bisect_right(lines, start)) < len(lines):
                    self._document_end = lines[closing]
                    self._now.documents.append((self._text.find("\n", end) + 1, lines[closing]))
            case "tick" if not any(self._code):
                self.end(start, end)
            case "tick":
                return self._text.find("`", end) + 1 or end
            case "open":
                before = self._text[max(0, start - 20) : start].rstrip()[-1:]
                is_block = token[0] == "{" and not (before and before in _LITERAL)
                is_subshell = token[0] == "(" and any(self._code) and not self._text[self._now.start : start].strip()
                if not innermost and (is_block or is_subshell):
                    self.end(end, end)
                else:
                    self._brackets.append(token[0])
            case "close":
                if self._brackets and (token[0] != "}" or innermost == "{"):
                    self._brackets.pop()
                elif token[0] == "}":
                    self.end(start, end)
            case "blank" if not any(self._code):
                self._brackets.clear()
                self.end(start, end)
            case "border" if innermost in ("", "{"):
                self.end(start, end)
            case "pipe" | "line" | "blank" as kind if not innermost:
                self.end(start, end, is_pipe=kind == "pipe")
            case _:
                pass
        return end
