"""The commands of a tool call, run through in mind: what they would take to a stranger.

A value is in whatever it was given to: variables, files, archives, the commits of a repository, the parameters of a
function, the pipe. A command takes its own words along, the commands within them, and what those names have.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from gateway.guard.network_programs import LIKE_A_FILE, MENTIONED, Programs, runs
from gateway.guard.regex_search import expression, holds
from gateway.guard.shell_parser import UNKNOWN, Command, Script, Word, from_words, read
from gateway.guard.untrusted_destinations import Strangers, is_file_name

_VARIABLE = re.compile(r"\$\{(\w{1,80})(?:(?::?[-=+?])([^}]{0,200})|[^}]{0,200})\}|\$(\w{1,80})")
# A host, or a number that could be one; first how they end, which is found in less time.
_HOST = re.compile(
    r"(?<![\w-])(?<!\w\.)(?:[\w-]+\.)+[a-z]{2,24}|\b(?:\d+\.[\d.]+|\d{8,10}|0x[\da-fx.]+)", re.IGNORECASE
)
_ENDING = re.compile(r"\.[a-zA-Z]{2,24}(?![\w-])")
# A bucket, or a host that is put together.
_TOGETHER = r"\b(?:s3|gs|az|abfss?|wasbs?)://|\[[\da-f]*:|[\w}]\.\$|\$[\w{}]+\.\w"
_PIECES = expression(_TOGETHER)
_UNUSUAL = expression(rf"{_TOGETHER}|\d\.\d|\b\d{{8,10}}\b|\b0x[\da-f]|{LIKE_A_FILE}")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=(.*)", re.DOTALL)
_LAST = re.compile(r"[\w.-]+")
_USED = re.compile(r"\$\{?[\#!]?([\w@*]+)|([\w.~*/-]+)")
_DECLARING = frozenset(("export", "declare", "local", "readonly", "typeset", "set", "env", "alias"))
_READING = frozenset(("read", "mapfile", "readarray"))
# Programs whose arguments are files, one of which gets what is in another.
_FILING = frozenset(
    """
    tee cp mv ln install dd tar zip gzip bzip2 xz zstd 7z rar cpio split sed sort openssl gpg age base64 xxd iconv
    convert jq ar
    """.split()
)
_COPYING = frozenset(("scp", "rcp", "rsync", "aws", "gsutil", "s3cmd", "rclone"))
_OUTPUT = re.compile(r"-o|-O|--output(?:=.*)?|-out|of=.*|--out")
_PARAMETERS = tuple(f"${each}" for each in "123456789@*")
_REPOSITORY, _LINES = "git push", "while read"
_MOST_ROUNDS, _LONGEST = 8, 200


def mentioned(text: str) -> bool:
    """Whether a text has a word that a shell could take for a program that sends. Cheap."""
    return holds(MENTIONED, _without_quotes(text))


def carried_off(text: str, places: Sequence[int], strangers: Strangers) -> set[int]:
    """Those of the `places`, sorted, that commands in a text would take to a stranger."""
    if not _could_leave(text, strangers):
        return set()
    return _Run(text, read(text), places, strangers).leaving()


def carried_by(text: str, words: Sequence[tuple[int, int]], places: Sequence[int], strangers: Strangers) -> set[int]:
    """The same for one command whose words are `text[start:end]`."""
    script = from_words([Word(text[start:end], start, end) for start, end in words])
    return _Run(text, script, places, strangers).leaving()


def _could_leave(text: str, strangers: Strangers) -> bool:
    """Whether a text has anything like a stranger's address, or one in pieces. Cheap."""
    plain = _without_quotes(text)
    if "$'" in text:
        return True
    if all(map(is_file_name, set(_ENDING.findall(plain)))) and not holds(_UNUSUAL, plain):
        return False
    return holds(_PIECES, plain) or any(map(strangers.host, set(_HOST.findall(plain))))


def _names(text: str) -> set[str]:
    return {
        f"${variable}" if variable else file.removeprefix("./").rstrip("/") for variable, file in _USED.findall(text)
    }


def _without_quotes(text: str) -> str:
    return text.replace("'", "").replace('"', "").replace("\\", "")


class _Run:
    def __init__(self, text: str, script: Script, places: Sequence[int], strangers: Strangers) -> None:
        self._text = text
        self._script = script
        self._places = places
        self._strangers = strangers
        self._programs = Programs(strangers)
        self._variables: dict[str, str] = {}
        self._aliases: dict[str, str] = {}
        self._given: dict[str, set[int]] = {}
        self._written: set[str] = set()
        self._sockets: set[str] = set()

    def leaving(self) -> set[int]:
        # The second time all variables are known, also those of functions and loops.
        for _ in range(1 + ("$" in self._text)):
            words = [self._words(command) for command in self._script.commands]
            abroad = [
                self._is_abroad(command, said) for command, said in zip(self._script.commands, words, strict=True)
            ]
        if not any(abroad):
            return set()
        taken = self._taken(words)
        return {place for places, leaves in zip(taken, abroad, strict=True) if leaves for place in places}

    def _words(self, command: Command) -> list[str]:
        """What a command says, with its variables filled in, which it may set."""
        said: list[str] = []
        for word in command.words:
            filled = self._filled(word.text)
            if filled == UNKNOWN:
                # What a command names last is most often what it says: `$(which curl)`.
                filled = (_LAST.findall(self._text[word.start : word.end]) or [filled])[-1]
            if not said and filled in self._aliases:
                filled = self._aliases[filled]
            said += filled.split() if filled != word.text and not word.quoted else [filled]
        for each in said:
            assigned = _ASSIGNED.match(each)
            if assigned and len(assigned[2]) <= _LONGEST:
                (self._aliases if said[0] == "alias" else self._variables)[assigned[1]] = assigned[2]
            elif said[0] not in _DECLARING and not assigned:
                break
        if len(said) > 3 and said[0] == "for" and len(said[3]) <= _LONGEST:
            self._variables[said[1]] = said[3]
        return said

    def _filled(self, text: str) -> str:
        return _VARIABLE.sub(self._value, text) if "$" in text else text

    def _value(self, match: re.Match[str]) -> str:
        name = match[1] or match[3]
        return self._variables.get(name, match[2] or f"${{{name}}}")

    def _is_abroad(self, command: Command, said: Sequence[str]) -> bool:
        abroad = self._programs.abroad(said)
        if abroad and said[0] == "coproc":
            self._sockets.add("COPROC")
        if any(self._programs.leads(word) for word in said):
            if said[0] in _DECLARING or all(map(_ASSIGNED.match, said)):
                self._sockets.add("proxy")
            abroad = True
        for redirection in command.redirections:
            target = self._filled(redirection.target.text)
            if target.startswith(("/dev/tcp/", "/dev/udp/")) and self._strangers.host(target.split("/")[3]):
                abroad = True
                if said[:1] == ["exec"]:
                    self._sockets.add(redirection.descriptor or ("0" if redirection.sign[0] == "<" else "1"))
            elif redirection.sign.endswith("&") and not self._sockets.isdisjoint(_LAST.findall(target)[:1]):
                abroad = True
        return abroad or "1" in self._sockets or ("proxy" in self._sockets and self._programs.knows(said))

    def _taken(self, words: Sequence[Sequence[str]]) -> list[set[int]]:
        """For each command the places that it takes along."""
        commands = self._script.commands
        pieces = ["\n".join(self._text[start:end] for start, end in command.spans) for command in commands]
        used = [self._used(piece, said) for piece, said in zip(pieces, words, strict=True)]
        given = [[*self._gives(command, said)] for command, said in zip(commands, words, strict=True)]
        own = [{place for span in command.spans for place in self._within(*span)} for command in commands]
        before = -1
        for _ in range(_MOST_ROUNDS):
            for index, command in enumerate(commands):
                taken = own[index]
                for other in command.reads:
                    taken |= own[other]
                if self._given:
                    for name in used[index] & self._given.keys():
                        taken |= self._given[name]
                    for pattern in used[index]:
                        if "*" in pattern:
                            taken |= self._matching(pattern)
                if taken:
                    for name in given[index]:
                        self._given.setdefault(name, set()).update(taken)
            now = sum(map(len, own)) + sum(map(len, self._given.values()))
            if now == before:
                break
            before = now
        return own

    def _within(self, start: int, end: int) -> Sequence[int]:
        return self._places[bisect_left(self._places, start) : bisect_left(self._places, end)]

    def _matching(self, pattern: str) -> set[int]:
        return {place for file in self._written if fnmatchcase(file, pattern) for place in self._given.get(file, ())}

    def _used(self, piece: str, said: Sequence[str]) -> set[str]:
        """The names that a command asks: variables, files and folders, and what is none but works like one."""
        names = _names(f"{piece}\n{' '.join(said)}")
        plain = [word for word in said if not word.startswith("-")]
        if not _COPYING.isdisjoint(plain) and ":" not in plain[-1]:
            # Fetched to there, and nothing of it sent.
            names -= _names(plain[-1]) - _names(" ".join(plain[:-1]))
        if "git" in said:
            names |= {_REPOSITORY} if "push" in said else set()
            if {"-A", "--all", "-u", "-am", "-a"} & set(said):
                names.add(".")
        if not _READING.isdisjoint(said):
            names.add(_LINES)
        return names - {""}

    def _gives(self, command: Command, said: Sequence[str]) -> Iterator[str]:
        """The names that get what a command says."""
        for redirection in command.redirections:
            if ">" in redirection.sign:
                yield from self._file(self._filled(redirection.target.text))
                yield from (name for name in _names(redirection.target.text) if name.startswith("$"))
        if not said:
            return
        program = next((name for _, name in runs(said)), "")
        assigned = [match[1] for match in map(_ASSIGNED.match, said) if match]
        if assigned and (program in _DECLARING or _ASSIGNED.match(said[0])):
            yield from (f"${name}" for name in assigned)
        if program in _READING or program == "for":
            yield from (f"${word}" for word in said[1:] if word.isidentifier())
        elif program == "done":
            yield _LINES
        elif program in self._script.functions or program == "set":
            yield from _PARAMETERS
        elif program == "git":
            if {"add", "commit", "stash", "tag", "am", "notes"} & set(said):
                yield _REPOSITORY
        elif any(name in _FILING for _, name in runs(said)) or any(map(_OUTPUT.fullmatch, said)):
            for word in said[1:]:
                if not word.startswith("-"):
                    yield from self._file(word.removeprefix("of="))

    def _file(self, name: str) -> Iterator[str]:
        """A file by its names, and the folders that it is in."""
        path = PurePosixPath(name)
        if name and not name.startswith(("/dev/", "&")) and len(name) <= _LONGEST:
            self._written.add(str(path))
            yield from {str(path), path.name, *(str(parent) for parent in path.parents)}
