"""A text read as the commands of a shell: words without their quotes, pipes, groups, here-documents, redirections.

As in POSIX (XCU 2) with what bash adds to it. Whatever comes is read somehow: nothing is an error, and what is not
closed goes on to the end. Linear in the text; commands within commands are read twenty deep.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# Stands in a word for what a command in it says.
UNKNOWN = "${}"
_DEEPEST, _DEEPEST_AGAIN, _MOST_GROUPS = 20, 2, 50
_BLANK = r"(?:[ \t\r]|\\\n|\$IFS\b|\$\{IFS\b[^}\s]{0,20}\})+"
_SIGN = re.compile(
    rf"(?P<blank>{_BLANK})|(?P<comment>\#[^\n]*)|(?P<line>\n)|(?P<function>\(\s*\))"
    r"|(?P<descriptor>\{\w+\}|\d+)?(?P<redirect><<<|<<-?|<>|>>|>\||[<>]&|&>>?|[<>](?!\())"
    r"|(?P<pipe>\|&?(?!\|))|(?P<end>&&|\|\||;;?&?|&)|(?P<opened>\()|(?P<closed>\))"
)
_STOP = re.compile(r"[\s;|&)]|(?<!=)\(|[<>](?!\()|\$\{?IFS\b")
_NAME = r"(?P<name>\$\{[^}\n]{0,300}\}|\$\w+|\$[@*\#?!$-])|(?P<other>.)"
_PIECE = re.compile(
    r"(?P<plain>[^\s'\"\\$`;|&()<>=]+)|(?P<joined>\\\n)|\\(?P<escaped>.)|'(?P<single>[^']*)(?:'|\Z)"
    rf"|\$'(?P<ansi>(?:[^'\\]|\\.)*)(?:'|\Z)|\$?(?P<double>\")|(?P<open>\$\(|`|[<>]\(|(?<==)\()|{_NAME}",
    re.DOTALL,
)
_QUOTED = re.compile(
    rf"(?P<plain>[^\"\\$`]+)|(?P<joined>\\\n)|\\(?P<escaped>[\"\\$`])|(?P<double>\")|(?P<open>\$\(|`)|{_NAME}",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_SKIPPED = frozenset(("{", "while", "until", "if", "do", "then", "else", "elif", "!", "time"))
_OPENING = frozenset(("{", "while", "until", "if", "for", "case", "select"))
_CLOSING = frozenset(("}", "done", "fi", "esac"))
_SHELLS = re.compile(
    r"(?:\S*/)?(?:(?:ba|z|da|k|a|fi)?sh|eval|ssh|su|sudo|doas|env|xargs|parallel|watch|script|trap|timeout|nohup|docker|podman"
    r"|kubectl|find|at|crontab|exec|busybox)\Z"
)

type Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Word:
    """`text` has no quotes; variables stand in it by name, `UNKNOWN` for what commands in it say. [start, end)."""

    text: str
    start: int
    end: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Redirection:
    """`3<>/dev/tcp/…` is ("3", "<>", …)."""

    descriptor: str
    sign: str
    target: Word


@dataclass(slots=True)
class Command:
    """A simple command, or the end of a group. `spans` are what belongs to it; `reads` the commands piped into it."""

    reads: range
    words: list[Word] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


@dataclass(slots=True)
class Script:
    """The commands of a text in their order, those within a word behind the one it belongs to."""

    commands: list[Command]
    functions: set[str]


def read(text: str) -> Script:
    """The commands of a text."""
    reader = _Reader(text)
    reader.read(0, len(text), "", range(0), 0)
    return Script(reader.commands, reader.functions)


def from_words(words: Sequence[Word]) -> Script:
    """One command whose words are known, as a program is given them without a shell."""
    return Script([Command(range(0), list(words), [], [(word.start, word.end) for word in words])], set())


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.commands: list[Command] = []
        self.functions: set[str] = set()

    def read(self, at: int, limit: int, closing: str, piped: range, depth: int) -> int:
        """Reads commands up to a sign that closes them; where it goes on behind that."""
        level = _Level(self.commands, piped)
        documents: list[tuple[Command, str]] = []
        while at < limit:
            if closing == "`" and self._text[at] == "`":
                at += 1
                break
            sign = _SIGN.match(self._text, at, limit)
            if sign is None:
                at = self._add_word(level, at, limit, closing, depth)
                continue
            at = sign.end()
            match sign.lastgroup:
                case "redirect":
                    at = self._add_redirection(level, sign, limit, documents, closing, depth)
                case "line":
                    level.end()
                    for command, name in documents:
                        at = self._add_document(command, name, at, limit, depth)
                    documents.clear()
                case "pipe":
                    level.end(pipes=True)
                case "end":
                    level.end()
                case "function":
                    self.functions.update(level.forget())
                case "opened":
                    level.end()
                    level.open("(")
                case "closed":
                    level.end()
                    if not level.close("(", Word(")", at - 1, at)) and closing == ")":
                        break
                case _:
                    pass
        return at

    def _add_word(self, level: "_Level", at: int, limit: int, closing: str, depth: int) -> int:
        command = level.command()
        word = self._word(at, limit, closing, depth)
        if word.end == at:
            return at + 1
        if not command.words and not word.quoted and level.takes(word):
            return word.end
        command.words.append(word)
        command.spans.append((at, word.end))
        self._read_again(command, word, depth)
        return word.end

    def _read_again(self, command: Command, word: Word, depth: int) -> None:
        """A command that a shell is given as a word."""
        is_text = word.quoted and depth <= _DEEPEST_AGAIN and any(map(str.isspace, word.text))
        if is_text and any(_SHELLS.match(before.text) for before in command.words[:-1]):
            shift = self._text[word.start] in "'\""
            self.read(word.start + shift, word.end - shift, "", command.reads, depth + _DEEPEST_AGAIN)

    def _add_redirection(
        self,
        level: "_Level",
        sign: re.Match[str],
        limit: int,
        documents: list[tuple[Command, str]],
        closing: str,
        depth: int,
    ) -> int:
        command, at = level.command(), sign.end()
        blank = _SIGN.match(self._text, at, limit)
        if blank and blank.lastgroup == "blank":
            at = blank.end()
        target = self._word(at, limit, closing, depth)
        if sign["redirect"] in ("<<", "<<-"):
            if depth < _DEEPEST:
                documents.append((command, target.text))
        else:
            command.redirections.append(Redirection((sign["descriptor"] or "").strip("{}"), sign["redirect"], target))
        command.spans.append((sign.start(), target.end))
        return target.end

    def _add_document(self, command: Command, name: str, at: int, limit: int, depth: int) -> int:
        """A here-document. It may be a script."""
        end = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*$", re.MULTILINE).search(self._text, at, limit)
        stop = end.start() if end else limit
        command.spans.append((at, stop))
        self.read(at, stop, "", range(0), depth + 1)
        return end.end() if end else limit

    def _word(self, at: int, limit: int, closing: str, depth: int) -> Word:
        text, start, parts, inside, quoted = self._text, at, list[str](), False, False
        while at < limit:
            if not inside and (_STOP.match(text, at, limit) or (closing == "`" and text[at] == "`")):
                break
            piece = (_QUOTED if inside else _PIECE).match(text, at, limit)
            if piece is None:
                break
            at, kind = piece.end(), piece.lastgroup
            if kind == "double":
                inside, quoted = not inside, True
            elif kind == "open" and depth < _DEEPEST and not (closing == "`" and piece[0] == "`"):
                # What is written to `>(…)` is what the command around it says.
                piped = range(len(self.commands) - 1, len(self.commands)) if piece[0] == ">(" else range(0)
                at = self.read(at, limit, "`" if piece[0] == "`" else ")", piped, depth + 1)
                parts.append(UNKNOWN)
            elif kind == "ansi":
                parts.append(_ESCAPE.sub(_unescaped, piece["ansi"]))
            elif kind != "joined":
                quoted = quoted or kind == "single"
                parts.append(piece[kind or 0])
        return Word("".join(parts), start, at, quoted)


class _Level:
    """The commands between two brackets: the one that is being read, and the groups that are open."""

    def __init__(self, commands: list[Command], piped: range) -> None:
        self._commands = commands
        self._piped = piped
        self._now: Command | None = None
        self._at = 0
        self._groups: list[tuple[str, int]] = []

    def command(self) -> Command:
        """The one that is being read."""
        if self._now is None:
            self._at = len(self._commands)
            self._now = Command(self._piped)
            self._commands.append(self._now)
            self._piped = range(0)
        return self._now

    def end(self, *, pipes: bool = False) -> None:
        if self._now is not None and (self._now.words or self._now.redirections):
            self._piped = range(self._at, self._at + 1) if pipes else range(0)
            self._now = None

    def forget(self) -> Iterator[str]:
        """What was taken for a command was the name of a function."""
        if self._now is not None:
            yield from (word.text for word in self._now.words[-1:])
            self.end()
            self._commands[self._at].words.clear()

    def takes(self, word: Word) -> bool:
        """Whether the first word of a command is one of the shell's own, and no part of it."""
        if word.text in _CLOSING:
            return self.close(word.text, word)
        if word.text in _OPENING:
            self.open(word.text)
        return word.text in _SKIPPED

    def open(self, sign: str) -> None:
        if len(self._groups) < _MOST_GROUPS:
            self._groups.append((sign, len(self._commands) - (self._now is not None)))

    def close(self, sign: str, word: Word) -> bool:
        """A command that stands for the group which ends, and says what the group says."""
        if not self._groups or (sign == "(") != (self._groups[-1][0] == "("):
            return False
        _, first = self._groups.pop()
        command = self.command()
        command.reads = range(first, self._at)
        command.words.append(word)
        command.spans.append((word.start, word.end))
        return True


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code or match[3]:
        return chr(int(code, 16) if code else int(match[3], 8))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[4], match[4])
