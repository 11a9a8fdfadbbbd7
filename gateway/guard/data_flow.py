"""A text read as statements of whatever language, and what they have to do with each other.

No parser: commands, scripts and programs of every kind come in answers, whole or in pieces. A statement begins and ends
at lines, semicolons and brackets; what gave something to one of its names belongs to it: an assignment, a method of the
same thing, a file that was written, a call of the function it stands in.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_LONGEST, _LONGEST_BEFORE, _MOST = 2000, 400, 40
# A line ends a statement unless it, or the next one, shows that it goes on.
_LINE_END = r"(?<![\\+,.=|&(\[\s])[ \t]*\n(?![ \t]*[.+|&?)\]])"
_BORDER = re.compile(rf"{_LINE_END}|;|&&|\|\||[{{}}`]|<script\b[^>\n]{{0,200}}>|</?p>", re.IGNORECASE)
_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.){0,2000}\"|'(?:[^'\\\n]|\\.){0,2000}'|(?:(?<=[=(+,:\[?{])|(?<=[=(+,:\[?{] ))`[^`]{0,2000}`"
    rf"|[(\[{{]|[)\]}}]|;|`|&&|\|\|?|</script|<<-?\s*[\"']?(\w+)|{_LINE_END}"
)
_GOES_ON = re.compile(r"\s*\.(?!then|catch|finally|done|success|subscribe|json|text)\w")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_$]\w*")
_URL = re.compile(r"//[^\s\"'`${]*")
_FILE = re.compile(r"[\w.~-]*/[\w./~-]*\w|[\w-]+\.\w{1,5}\b")
_DEFINED = re.compile(
    r"(?<![\w.])([A-Za-z_$]\w*)(?:\[[^\]\n]{0,60}\])?[ \t]*(?::[ \t]*\w+[ \t]*)?(?::|\+|\|)?=(?![=>])"
    r"|\bfor\b[ \t(]*(?:(?:const|let|var)[ \t]+)?([A-Za-z_]\w*)[ \t]+(?:in|of)\b|\bas[ \t]+([A-Za-z_]\w*)[ \t]*:"
    r"|(?<=\s)>>?[ \t]*([\w~-]*[./][\w./~-]*)|\btee[ \t]+(?:-a[ \t]+)?([\w./~-]+)"
    r"|\bopen\([ \t]*[\"']([\w./~-]+)[\"'],[ \t]*[\"']w"
)
_USED = re.compile(r"(?<![\w.])([A-Za-z_$]\w*)(?:\[[^\]\n]{0,60}\]|(?:\.|->)\w+)+\s*(?:\+?=(?![=>])|\()")
_FUNCTION = re.compile(
    r"\b(?:function|def|func|fn|sub)\s+(\w+)\s*\(([^)]{0,200})\)"
    r"|\b(\w+)\s*=\s*(?:async\s*)?\(?([\w\s,]{0,200})\)?\s*=>"
)

_CALLED = re.compile(r"(?<![\w.])(\w+)\s*\(")


@dataclass(frozen=True, slots=True)
class Statement:
    """`text[start:end]`, the names in it, and which of the places asked about stand there."""

    start: int
    end: int
    names: frozenset[str]
    places: frozenset[int]


class Statements:
    """The statements of a text. `places` are offsets, sorted, that are asked about."""

    def __init__(self, text: str, places: Sequence[int]) -> None:
        self._text = text
        self._places = places
        self._known: dict[tuple[int, int], Statement] = {}

    def around(self, start: int, end: int, *, is_call: bool, is_command: bool) -> Statement:
        """The statement around `text[start:end]`, up to what a call is given, or to the pipe behind a command."""
        before = max(self._border(start), start - _LONGEST_BEFORE)
        return self.between(before, self._end(end - 1, is_call=is_call, is_command=is_command))

    def between(self, start: int, end: int) -> Statement:
        if (start, end) not in self._known:
            first, last = bisect_left(self._places, start), bisect_left(self._places, end)
            said = _URL.sub(" ", self._text[start:end])
            names = {name.strip("$") for name in _NAME.findall(said)}.union(_FILE.findall(said))
            self._known[start, end] = Statement(start, end, frozenset(names), frozenset(self._places[first:last]))
        return self._known[start, end]

    def behind(self, statement: Statement, names: frozenset[str]) -> Iterator[Statement]:
        """The statements that gave something to the names, and to the names in those."""
        seen, todo = {statement.start}, [[*self._calls(statement.end, names)], *map(self._given, sorted(names))]
        known = set(names)
        for starts in todo:
            for start in starts:
                if start not in seen and len(seen) < _MOST:
                    seen.add(start)
                    giving = self.between(start, self._end(start))
                    yield giving
                    todo += map(self._given, sorted(giving.names - known))
                    known |= giving.names

    def _given(self, name: str) -> list[int]:
        """Where a name gets what it stands for."""
        return self._definitions.get(name, [])

    def _border(self, at: int) -> int:
        """Where the statement at a place begins."""
        index = bisect_right(self._borders, at) - 1
        return self._borders[index] if index >= 0 else 0

    def _end(self, start: int, *, is_call: bool = False, is_command: bool = False) -> int:
        """Where a statement ends; a call at its last bracket, unless a method of what it made follows."""
        depth = 0
        for token in _TOKEN.finditer(self._text, start, start + _LONGEST):
            sign = token[0]
            if sign[0] in "([{":
                depth += 1
            elif sign[0] in ")]}":
                depth -= 1
                if depth < 0 or (is_call and depth == 0 and not _GOES_ON.match(self._text, token.end())):
                    return token.end()
            elif token[1] is not None:
                closing = re.compile(rf"\n\s*{token[1]}\b").search(self._text, token.end(), token.end() + _LONGEST)
                return closing.end() if closing else token.end()
            elif depth == 0 and (len(sign) < 2 or sign[0] not in "\"'`") and (is_command or sign != "|"):
                return token.start() if sign[0] in "|&" else token.end()
        return min(len(self._text), start + _LONGEST)

    def _calls(self, at: int, names: frozenset[str]) -> Iterator[int]:
        """Where the function that a place stands in is called, if the names are its parameters."""
        index = bisect_left(self._functions, at, key=re.Match[str].start) - 1
        if index < 0:
            return
        function = self._functions[index]
        if not names.isdisjoint(_NAME.findall(function[2] or function[4] or "")):
            yield from self._called.get(function[1] or function[3], ())

    def _is_attribute(self, at: int) -> bool:
        """Whether a tag of HTML is open there."""
        opened = self._text.rfind("<", max(0, at - _LONGEST), at)
        return opened >= 0 and self._text[opened + 1].isalpha() and self._text.find(">", opened, at) < 0

    @cached_property
    def _borders(self) -> list[int]:
        return [match.end() for match in _BORDER.finditer(self._text)]

    @cached_property
    def _functions(self) -> list[re.Match[str]]:
        return list(_FUNCTION.finditer(self._text))

    @cached_property
    def _called(self) -> dict[str, list[int]]:
        """Where each of the functions is called, as often as is looked at."""
        called: dict[str, list[int]] = {function[1] or function[3]: [] for function in self._functions}
        for match in _CALLED.finditer(self._text):
            if match[1] in called and len(called[match[1]]) < _MOST:
                called[match[1]].append(match.start())
        return called

    @cached_property
    def _definitions(self) -> dict[str, list[int]]:
        """Where names get what they stand for; of a thing with methods, also where one of them is called."""
        found: dict[str, list[int]] = {}
        for match in _DEFINED.finditer(self._text):
            if match[1] and self._is_attribute(match.start()):
                continue
            name = next(group for group in match.groups() if group).strip("$")
            found.setdefault(name, []).append(match.start() if match[1] else self._border(match.start()))
        for match in _USED.finditer(self._text):
            if (name := match[1].strip("$")) in found:
                found[name].append(match.start())
        return found
