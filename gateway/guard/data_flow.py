"""Splits text into statements and follows values from one to another by the names that they share.

One reader for shells, programs and scripts: statements end at lines, semicolons, pipes and blocks, unless brackets or
quotes hold them together. A statement that gets a value passes it to whatever it defines: a variable, a file, an
object, the parameters of the function that it calls, the next command of its pipe. Reading errs towards longer
statements, which keeps more placeholders closed, not fewer. Linear in the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

_TOKEN = re.compile(
    r"(?P<skip>\\.|\{\w*\})|(?P<fence>^[ \t]*(?:```|~~~)[^\n]*)|(?P<script></?(?:script|style)\b[^>\n]{0,300}>?)"
    r"|(?P<string>(?<!\w)(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'))"
    r"|(?P<comment>(?:(?<=\s)|^)(?:\#|//)[ \t][^\n]*)|<<-?[ \t]*[\"']?(?P<document>\w+)[\"']?"
    r"|(?P<tick>`)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<blank>\n[ \t]*\n)"
    r"|(?P<loop>(?<![\w.])(?:while|until|for)(?=[ \t])|(?<![\w.])done\b)"
    r"|(?P<border>;|\.(?=(?:then|catch|finally|done|success|subscribe)\s*\()|&&|\|\||(?<=[ \t])&(?=[ \t\n])|</?p>)"
    r"|(?P<pipe>\|&?)"
    r"|(?P<line>(?<![\\+,=|&(\[\s])[ \t]*+\n(?![ \t]*[.+|&?)\]]))",
    re.DOTALL | re.MULTILINE,
)
# A brace behind one of these opens a literal or an expansion; any other one opens a block.
_LITERAL = "=([,:?$@"
_URL = re.compile(r"//[^\s\"'`${]*")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*|\$\{?[\d@*#]")
_FILE = re.compile(r"(?<![\w.~*-])(?:[\w.~*-]*+/[\w.~*/-]*|[\w*-]++\.[\w*]{1,8}\b|\.(?=\s|\Z))")
_ASSIGNED = re.compile(
    r"\s*(?:(?:export|const|let|var|local|readonly|declare|my|val|auto|string|do|then)\s+)*"
    r"[$@]?([A-Za-z_]\w*)(?:\[[^\]\n]{0,60}\])?[ \t]*(?::[ \t]*\w+[ \t]*)?(?:(?::|\+|\|)?=(?![=>])|<-)"
)
_BOUND = re.compile(
    r"\bfor[ \t(]+(?:(?:const|let|var)[ \t]+)?(\w+)[ \t]+(?:in|of)\b|\bas[ \t]+(\w+)|\bread(?:[ \t]+-\w+)*[ \t]+(\w+)"
)
_WRITTEN = re.compile(
    r"(?<![<\w-])(?:\d|&)?>{1,2}[ \t]*([\w.~/$*-]+)|\btee[ \t]+(?:-a[ \t]+)?([\w./~-]+)"
    r"|(?<!\w)(?:-o|-O|--output)[ \t]+([\w./~-]+)|\bopen\([ \t]*[\"']([\w./~-]+)[\"'],[ \t]*[\"']w"
)
_OBJECT = re.compile(r"\s*(?:await[ \t]+)?[$@]?([A-Za-z_]\w*)(?:\[|\.|->)")
_FUNCTION = re.compile(
    r"\b(?:function|def|func|fn|fun|sub)\s+(\w+)\s*\(([^)]{0,200})\)"
    r"|\b(\w+)\s*=\s*(?:async\s*)?\(([\w\s,]{0,200})\)\s*=>"
    r"|(?:^|;)[ \t]*(\w+)[ \t]*\([ \t]*\)(?=\s*\{)",
    re.MULTILINE,
)
_LONGEST_FILE = 200
_POSITIONAL = "$1 $2 $3 $@ $* ${1 ${2 ${@ ${*"
_FILING = re.compile(
    r"\s*(?:sudo\s+(?:-\S+\s+\S+\s+)?)?(?:cp|mv|ln|install|dd|tar|zip|gzip|bzip2|xz|zstd|7z|split|sort|sed|openssl"
    r"|gpg|age|base64"
    r"|iconv|convert|tee|ar|cpio)\s"
)
# A program or a file reads what the block before it says.
_READS_ON = re.compile(r"[ \t]*(?:\||\d?>)")
_WORD_ALONE = re.compile(r"^[ \t]*(\w+)[ \t]*$", re.MULTILINE)
_COMMITTED = re.compile(r"\s*git\s.*\b(?:add|commit|stash|tag|am|notes)\b", re.DOTALL)


@dataclass(slots=True)
class Statement:
    """`text[start:end]` and the here-documents it reads; `inputs` are the statements whose output it reads."""

    start: int
    end: int
    inputs: Sequence[int] = ()
    documents: list[tuple[int, int]] = field(default_factory=list)
    is_code: bool = True


class Program:
    """The statements of a text. `is_code` says whether all of it is code, or prose that may hold some."""

    def __init__(self, text: str, *, is_code: bool) -> None:
        self.text = text
        self.comments: list[tuple[int, int]] = []
        self.statements: list[Statement] = []
        self._split(is_code)
        self._starts = [statement.start for statement in self.statements]

    def at(self, offset: int) -> int:
        """The index of the statement around an offset."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def said(self, index: int) -> str:
        """A statement with its here-documents, without comments."""
        return "\n".join([self.command(index), *(self._plain[a:b] for a, b in self.statements[index].documents)])

    def command(self, index: int) -> str:
        """A statement alone."""
        return self._plain[self.statements[index].start : self.statements[index].end]

    def is_comment(self, offset: int) -> bool:
        at = bisect_right(self.comments, (offset, len(self.text))) - 1
        return at >= 0 and offset < self.comments[at][1]

    def held(self, indices: Iterable[int], places: Sequence[int]) -> set[int]:
        """Those of the places, sorted, that stand in the statements."""
        spans = [
            span for index in indices if (s := self.statements[index]) for span in ((s.start, s.end), *s.documents)
        ]
        inside = {place for a, b in spans for place in places[bisect_left(places, a) : bisect_left(places, b)]}
        return {place for place in inside if not self.is_comment(place)}

    def sources(self, wanted: Iterable[int]) -> set[int]:
        """The statements whose values reach the wanted ones, and these."""
        return self._closure(wanted, self.used, self._defining)

    def reached(self, wanted: Iterable[int]) -> set[int]:
        """The statements that the values of the wanted ones reach by name, and these."""
        return self._closure(wanted, self.defined, self._using)

    def _closure(self, wanted: Iterable[int], own: Sequence[set[str]], others: Mapping[str, Sequence[int]]) -> set[int]:
        seen = set(wanted)
        todo, known = list(seen), set[str]()
        while todo:
            index = todo.pop()
            new = own[index] - known
            known |= new
            found = {each for name in new for each in others.get(name, ())}
            if own is self.used:
                found.update(self.statements[index].inputs)
            todo += found - seen
            seen |= found
        return seen

    @cached_property
    def used(self) -> list[set[str]]:
        """The names in each statement."""
        return [names(self.said(index)) for index in range(len(self.statements))]

    @cached_property
    def defined(self) -> list[set[str]]:
        """The names that each statement gives something to."""
        own = [set(self._definitions(index)) for index in range(len(self.statements))]
        assigned, parameters = set[str]().union(*own), self._parameters
        for index, statement in enumerate(self.statements):
            thing = _OBJECT.match(self.text, statement.start, statement.end)
            if thing and thing[1] in assigned:
                own[index].add(thing[1])
            own[index].update(each for name in self.used[index] & parameters.keys() for each in parameters[name])
        return own

    @cached_property
    def _defining(self) -> dict[str, list[int]]:
        return _inverted(self.defined)

    @cached_property
    def _using(self) -> dict[str, list[int]]:
        return _inverted(self.used)

    @cached_property
    def _parameters(self) -> dict[str, set[str]]:
        """The names of functions with those of what they are given."""
        found: dict[str, set[str]] = {}
        for match in _FUNCTION.finditer(self.text):
            name, listed = match[1] or match[3] or match[5], match[2] or match[4] or _POSITIONAL
            found.setdefault(name, set()).update(names(listed))
        return found

    def _definitions(self, index: int) -> Iterator[str]:
        statement = self.statements[index]
        text = self.text[statement.start : statement.end]
        if assigned := _ASSIGNED.match(text):
            yield assigned[1]
        for match in _BOUND.finditer(text):
            yield from filter(None, match.groups())
        for match in _WRITTEN.finditer(text):
            for file in filter(None, match.groups()):
                yield from _folders(file)
        if _FILING.match(text):
            for word in text.split()[1:]:
                yield from _folders(word.strip("'\""))
        if _COMMITTED.match(text):
            yield "git"

    def _split(self, is_code: bool) -> None:
        reader = _Reader(self.text, is_code=is_code)
        position = behind = 0
        pieces: list[str] = []
        while token := _TOKEN.search(self.text, position):
            position = reader.read(token)
        reader.end(len(self.text), len(self.text))
        self.statements, self.comments = reader.statements, reader.comments
        for start, end in self.comments:
            pieces += (self.text[behind:start], " " * (end - start))
            behind = end
        self._plain = "".join([*pieces, self.text[behind:]])


class _Reader:
    """Makes statements of tokens."""

    def __init__(self, text: str, *, is_code: bool) -> None:
        self._text = text
        # Code altogether, in a fence, in a script.
        self._code = [is_code, False, False]
        self.statements: list[Statement] = []
        self.comments: list[tuple[int, int]] = []
        self._now = Statement(0, 0)
        self._brackets: list[str] = []
        self._blocks: list[int] = []

    def end(self, at: int, behind: int) -> None:
        """Ends the statement at a place, unless there is none; the next one begins behind it. In backticks is code."""
        self._now.end = at
        self._now.is_code = any(self._code) or self._text[self._now.start - 1 : self._now.start] == "`"
        if not self.statements or self._text[self._now.start : at].strip():
            self.statements.append(self._now)
        self._now = Statement(behind, behind)

    def read(self, token: re.Match[str]) -> int:
        """Takes a token; where to look for the next one."""
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
            case "comment" if any(self._code):
                self.comments.append((start, end))
            case "document":
                self._add_document(token["document"], end)
            case "tick":
                closing = self._text.find("`", end) if any(self._code) else -1
                if closing >= 0:
                    return closing + 1
                if not any(self._code):
                    self.end(start, end)
            case "open":
                before = self._text[max(0, start - 20) : start].rstrip()[-1:]
                if token[0] != "{" or innermost or (before and before in _LITERAL):
                    self._brackets.append(token[0])
                else:
                    self.end(end, end)
                    self._blocks.append(len(self.statements))
            case "close":
                if self._brackets and (token[0] != "}" or innermost == "{"):
                    self._brackets.pop()
                elif token[0] == "}":
                    self._end_block(end)
            case "loop" if any(self._code) and not self._brackets and not self._text[self._now.start : start].strip():
                if token[0] != "done":
                    self._blocks.append(len(self.statements))
                elif self._blocks:
                    first = self._blocks.pop()
                    self._now.inputs = range(first, len(self.statements))
                    # What the loop reads comes in at its end: `done < file`.
                    self.statements[first].inputs = (*self.statements[first].inputs, len(self.statements))
            case "blank" if not any(self._code):
                self._brackets.clear()
                self.end(start, end)
            case "border" if innermost in ("", "{"):
                self.end(start, end)
            case "pipe" if not innermost:
                self.end(start, end)
                self._now.inputs = (len(self.statements) - 1,)
            case "line" | "blank" if not innermost:
                self.end(start, end)
            case _:
                pass
        return end

    def _end_block(self, end: int) -> None:
        self.end(end - 1, end)
        first = self._blocks.pop() if self._blocks else len(self.statements)
        if _READS_ON.match(self._text, end):
            self._now.inputs = range(first, len(self.statements))

    def _add_document(self, name: str, end: int) -> None:
        begin = self._text.find("\n", end)
        for closing in self._lines.get(name, ())[bisect_right(self._lines.get(name, ()), begin) :][:1]:
            self._now.documents.append((begin + 1, closing))

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        """Where the lines with nothing but a word begin."""
        found: dict[str, list[int]] = {}
        for match in _WORD_ALONE.finditer(self._text):
            found.setdefault(match[1], []).append(match.start())
        return found


def _inverted(names: Sequence[set[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, each in enumerate(names):
        for name in each:
            found.setdefault(name, []).append(index)
    return found


def names(text: str) -> set[str]:
    """Variables and files that a text names."""
    plain = _URL.sub(" ", text)
    names = {name.lstrip("${") for name in _NAME.findall(plain)}
    for file in _FILE.findall(plain):
        path = PurePosixPath(file)
        # A pattern may stand for any file of its folder.
        names.add(str(path.parent if "*" in path.name else path))
    return names


def _folders(file: str) -> Iterator[str]:
    """A file by its names, and the folders that it is in."""
    path = PurePosixPath(file.removeprefix("$").removeprefix("of="))
    if path.name and len(file) <= _LONGEST_FILE and not file.startswith(("-", "/dev/")):
        yield from (str(path), path.name, *map(str, path.parents))
