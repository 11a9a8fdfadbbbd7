"""Finds the placeholders that code, commands, pages and forms in a text would take to an untrusted destination.

A statement that sends takes what is in it and, by the names in it, what statements before it put there: variables,
files, objects, parameters. What is only near it stays.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from pathlib import PurePosixPath
from typing import Literal

from gateway.destinations.commands import MENTIONED, Commands, mentioned
from gateway.destinations.patterns import Patterns, first, matches
from gateway.destinations.trust import UntrustedDestinations
from gateway.guard.statements import Statement, split_statements

_PATTERNS = Patterns(__file__)
_SENDER = _PATTERNS.expression("<<sender>>")
_MAILS, _PUSH, _URL, _WORD = map(_PATTERNS.compiled, ("mails", "push", "url", "word"))
_READS_ALL, _READS_FIELDS, _BLOCK_PIPE = map(_PATTERNS.compiled, ("reads_all", "reads_fields", "block_pipe"))
_TARGET, _GIVEN, _COPIES_FILES = map(_PATTERNS.compiled, ("target", "given", "copies_files"))
_FUNCTION = _PATTERNS.compiled("function", re.MULTILINE)
_FIELD, _FORM, _FRAME, _STYLE = map(_PATTERNS.compiled, ("field", "form", "frame", "style"))
_HANDLER = _PATTERNS.compiled("handler", 0)
_FAR = 2000
type Use = Literal["read", "called", "run"]
"""Prose that may contain code; arguments of a tool; commands that a tool runs, in which any program may send."""
# The contents of a statement as a number: a bit for hosts, one for mailboxes, and one for each place.
_HOST, _MAIL, _FIRST_PLACE = 1, 2, 2
_ANYTHING = -1


def leaving(text: str, places: Sequence[int], untrusted: UntrustedDestinations, use: Use = "read") -> dict[int, bool]:
    """Returns the `places` (which are sorted) whose values would be sent; true where a page sends them by itself."""
    destinations = untrusted.found(text)
    is_command_named = mentioned(text)
    if not destinations and not is_command_named:
        return {}
    by_code = by_page = 0
    if use == "run" or is_command_named or first(_SENDER, text) is not None:
        by_code, by_page = _Flow(text, places, untrusted, use).sent(destinations)
    if destinations:
        by_page |= _sent_fields(text, places, untrusted)
    sent = ((place, 1 << index) for index, place in enumerate(places, _FIRST_PLACE))
    return {place: bool(by_page & bit) for place, bit in sent if (by_code | by_page) & bit}


class _Flow:
    """Follows places and destinations through the statements of a text by the names that these share."""

    def __init__(self, text: str, places: Sequence[int], untrusted: UntrustedDestinations, use: Use) -> None:
        self._text = text
        self._places = places
        self._untrusted = untrusted
        self._use = use
        self._statements = split_statements(text, is_code=use != "read")
        self._starts = [statement.start for statement in self._statements]
        self._functions = {match[match.lastindex or 0] for match in _FUNCTION.finditer(text)}
        targets = [_TARGET.match(statement.said) for statement in self._statements]
        self._assigned = {match[1] for match in targets if match and match[2]}
        self._everything = _within([(0, len(text))], places)
        self._in_fields = _within((match.span() for match in _FIELD.finditer(text)), places)

    def sent(self, destinations: Sequence[tuple[int, bool]]) -> tuple[int, int]:
        """The places that commands and code send, and those that a page sends by itself."""
        commands = Commands(self._text, self._untrusted, any_program=self._use == "run")
        senders = self._senders(commands)
        if commands.takes_everything:
            return self._everything, 0
        own = [self._own(statement) for statement in self._statements]
        for at, is_mail in destinations:
            # Between two statements is a comment.
            if at < self._statements[index := self._at(at)].end:
                own[index] |= _MAIL if is_mail else _HOST
        names = [self._used_and_given(statement.said) for statement in self._statements]
        carried: dict[str, int] = {}
        sent = [0, 0]
        # Twice, as functions are defined before they are called.
        for _ in range(2):
            taken = 0
            for index, (used, given) in enumerate(names):
                taken = own[index] | (taken if self._statements[index].is_piped else 0)
                for name in used:
                    taken |= carried.get(name, 0)
                for at, kinds in senders.get(index, ()):
                    if kinds & taken:
                        sent[self._is_page(at)] |= taken
                for name in given:
                    carried[name] = carried.get(name, 0) | taken
        return sent[False], sent[True]

    def _senders(self, commands: Commands) -> dict[int, list[tuple[int, int]]]:
        """By statement: where something sends, and to which kinds of destinations."""
        found: dict[int, list[tuple[int, int]]] = {}
        for at, (said,) in matches(_SENDER, self._text):
            kinds = _MAIL if _MAILS.search(said) else _HOST
            found.setdefault(self._at(at), []).append((at, _MAIL | _HOST if _PUSH.match(said) else kinds))
        for index, statement in enumerate(self._statements):
            said = self._text[statement.start : statement.end]
            if commands.send(said):
                found.setdefault(index, []).append((statement.start, _ANYTHING))
                if not statement.is_code:
                    # In a sentence a command begins at its program.
                    statement.start += first(MENTIONED, said) or 0
        return found

    def _own(self, statement: Statement) -> int:
        """The places that a statement contains, or reads from the page."""
        is_block_piped = _BLOCK_PIPE.search(self._text[max(0, statement.start - 20) : statement.start])
        if _READS_ALL.search(statement.said) or (statement.is_piped and is_block_piped):
            return self._everything
        fields = self._in_fields if _READS_FIELDS.search(statement.said) else 0
        return _within([(statement.start, statement.end), *statement.documents], self._places) | fields

    def _used_and_given(self, said: str) -> tuple[set[str], set[str]]:
        """The names that a statement takes values from, and those that it gives values to."""
        used = _names(said)
        if _FUNCTION.search(said):
            return used, used
        given = self._functions & used
        target = _TARGET.match(said)
        if target and target[1] in self._assigned:
            given.add(target[1])
        for match in _GIVEN.finditer(said):
            given.update(_folders(match[match.lastindex or 0]))
        if _COPIES_FILES.match(said):
            for word in said.split()[1:]:
                given.update(_folders(word.strip("'\"")))
        if target and target[2]:
            used = _names(said[target.end() :])
        return (used | {"origin"} if _PUSH.search(said) else used), given

    def _at(self, offset: int) -> int:
        """The index of the statement around an offset."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def _is_page(self, at: int) -> bool:
        """Whether a page runs what is there."""
        before = self._text[max(0, at - _FAR) : at].lower()
        opened, closed = (max(before.rfind(sign + name) for name in ("script", "style")) for sign in ("<", "</"))
        return opened > closed or _HANDLER.search(before[-400:]) is not None


def _names(text: str) -> set[str]:
    """Variables and files that a text names."""
    found: set[str] = set()
    for word in _WORD.findall(_URL.sub(" ", text)):
        if "/" in word or "*" in word or word == ".":
            path = PurePosixPath(word)
            # A pattern may match any file of its folder.
            found.add(str(path.parent if "*" in path.name else path))
        else:
            found.update((word, *word.split(".")))
    return found


def _folders(file: str) -> Iterator[str]:
    """A file by its names, and the folders that it is in."""
    path = PurePosixPath(file.removeprefix("$").removeprefix("of="))
    if path.name and len(file) <= 200 and not file.startswith(("-", "/dev/")):
        yield from (str(path), path.name, *map(str, path.parents))


def _sent_fields(text: str, places: Sequence[int], untrusted: UntrustedDestinations) -> int:
    """The places that a page sends to an untrusted destination by a frame, or those in fields by a form or style."""
    framed = _within((match.span() for match in _FRAME.finditer(text) if untrusted.urls(match[0])), places)
    values = [next(filter(None, match.groups()), "") for match in _FORM.finditer(text)]
    addresses = [re.sub(r"[\t\n\r]", "", unescape(value)).replace("\\", "/") for value in values]
    has_form = "" in values and any(untrusted.urls(address) or untrusted.mailboxes(address) for address in addresses)
    if not has_form and not any(untrusted.urls(match[0]) for match in _STYLE.finditer(text)):
        return framed
    return framed | _within((match.span() for match in _FIELD.finditer(text)), places)


def _within(spans: Iterable[tuple[int, int]], places: Sequence[int]) -> int:
    """A bit for each of the places in one of the spans."""
    bits = 0
    for span in spans:
        first, last = (bisect_left(places, at) + _FIRST_PLACE for at in span)
        bits |= (1 << last) - (1 << first)
    return bits
