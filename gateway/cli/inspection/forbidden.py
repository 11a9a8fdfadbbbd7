"""Searches what was sent for values that must not be: in bodies, heads, paths and names of hosts, in many spellings.

A value is known by the number of its line. Nothing here repeats one, nor the text that holds it.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import ahocorasick_rs
import orjson

from gateway.cli.console import Misused
from gateway.cli.inspection.records import Sent, Tunnel
from gateway.cli.inspection.spellings import folded, readings, squeezed
from gateway.text.pointers import escaped

_LONGEST_FILE, _MOST_LINES = 1024 * 1024, 10_000
# In characters: shorter values are refused, short ones are only found as words, long ones despite separators.
_SHORTEST, _WORDS_BELOW, _SQUEEZED_FROM = 4, 6, 8
_AS_WRITTEN, _RESPELLED, _SPLIT = "as it is", "in another spelling", "divided between texts"
_TOO_MUCH = "decodes to too much to be searched"


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A value that was sent: its line in the file, the place in the request, and how it was spelled.

    The line is 0 where the place could not be searched.
    """

    line: int
    place: str
    how: str


class Forbidden:
    """The values, by the number of their line. Without any, nothing is found."""

    def __init__(self, values: Mapping[int, str]) -> None:
        self._values = [(line, folded(value)) for line, value in values.items()]
        self._raw = values
        self._least = min((len(squeezed(value)) or len(value) for _, value in self._values), default=0)
        squeezed_values = [(line, squeezed(value)) for line, value in self._values]
        self._squeezed = [(line, value) for line, value in squeezed_values if len(value) >= _SQUEEZED_FROM]
        self._automata = [_automaton([value for _, value in each]) for each in (self._values, self._squeezed)]
        self._known: dict[str, tuple[tuple[int, str], ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def in_text(self, text: str) -> tuple[tuple[int, str], ...]:
        """Returns the lines of the values in a text, and how each is spelled; line 0 if it cannot be searched."""
        if not self._values or len(text) < _SHORTEST:
            return ()
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = tuple(self._search(text))
        return found

    def _search(self, text: str) -> Iterator[tuple[int, str]]:
        told = set[int]()
        try:
            for how, read in readings(text, self._least):
                for line in self._lines(read) - told:
                    told.add(line)
                    yield line, f"in {how}" if how else _AS_WRITTEN if self._raw[line] in text else _RESPELLED
        except OverflowError:
            yield 0, _TOO_MUCH

    def _lines(self, text: str) -> set[int]:
        plain = folded(text)
        found = set[int]()
        for listed, automaton, read in zip(
            (self._values, self._squeezed), self._automata, (plain, squeezed(plain)), strict=True
        ):
            if automaton is None:
                continue
            for index, start, end in automaton.find_matches_as_indexes(read, overlapping=True):
                line, value = listed[index]
                if len(value) >= _WORDS_BELOW or _is_word(read, start, end):
                    found.add(line)
        return found

    def in_request(self, sent: Sent) -> list[Hit]:
        """Returns the values in a request, each place once."""
        path, _, query = sent.path.partition("?")
        parts = [("host", sent.host), ("path", path), ("query", query)]
        parts += [(f"header {self._name(name)}", value) for name, value in (*sent.headers, *sent.credentials)]
        parts += [("the name of a header", name) for name, _ in (*sent.headers, *sent.credentials)]
        hits = {Hit(line, place, how) for place, text in parts for line, how in self.in_text(text)}
        hits |= set(self._in_body(sent.body))
        return sorted(hits)

    def in_tunnel(self, tunnel: Tunnel) -> list[Hit]:
        """Returns the values in the name of a host."""
        return [Hit(line, "host", how) for line, how in self.in_text(tunnel.host)]

    def _in_body(self, body: bytes) -> Iterator[Hit]:
        if not self._values:
            return
        text = body.decode("utf-8", "replace")
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            for line, how in self.in_text(text):
                yield Hit(line, "body", how)
            return
        told = set[int]()
        columns: dict[str, list[str]] = defaultdict(list)
        for pointer, column, leaf in self._leaves(document, "", ""):
            columns[column].append(leaf)
            for line, how in self.in_text(leaf):
                told.add(line)
                yield Hit(line, f"body {pointer or '/'}", how)
        for column, texts in columns.items():
            yield from self._divided(f"body {column}", texts, told)
        # A number may be spelled otherwise than it is read, and a value may be the structure itself.
        for line in self._lines(text) - told:
            yield Hit(line, "body", _RESPELLED)

    def _divided(self, place: str, texts: list[str], told: set[int]) -> Iterator[Hit]:
        if len(texts) < 2:
            return
        for line in self._lines("".join(texts)) - told:
            told.add(line)
            # The report shows none of these texts.
            self._known |= {text: ((line, _SPLIT),) for text in texts if not self._known.get(text)}
            yield Hit(line, place, _SPLIT)

    def _leaves(self, value: object, pointer: str, column: str) -> Iterator[tuple[str, str, str]]:
        """Yields texts, numbers and names of members with their pointer, and what similar places have in common."""
        if isinstance(value, dict):
            for name, inner in value.items():
                shown = self._name(name)
                yield f"{pointer} (the name of a member)", f"{column} (names)", name
                yield from self._leaves(inner, f"{pointer}/{shown}", f"{column}/{shown}")
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self._leaves(inner, f"{pointer}/{index}", f"{column}/*")
        elif isinstance(value, str):
            yield pointer, column, value
        elif value is not None and not isinstance(value, bool):
            yield pointer, column, str(value)

    def _name(self, name: str) -> str:
        """Returns a name as the report may show it, as part of a JSON pointer."""
        return "(not shown)" if self.in_text(name) else escaped(name)


def read_forbidden(file: Path | None) -> Forbidden:
    """Reads a file with one value a line, or standard input for `-`. Raises Misused, and OSError."""
    if file is None:
        return Forbidden({})
    data = sys.stdin.buffer.read(_LONGEST_FILE + 1) if str(file) == "-" else _start_of(file)
    if len(data) > _LONGEST_FILE:
        raise _misused("is larger than 1 MiB")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise _misused("is not UTF-8 text") from None
    values = {number: line.strip() for number, line in enumerate(lines, 1) if line.strip()}
    if not values:
        raise _misused("has no value; write one a line")
    if len(values) > _MOST_LINES:
        raise _misused(f"has more than {_MOST_LINES:,} values")
    for number, value in values.items():
        if len(folded(value)) < _SHORTEST:
            raise _misused(f"line {number} has less than {_SHORTEST} characters, which any request may have by chance")
    return Forbidden(values)


def _start_of(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_LONGEST_FILE + 1)


def _misused(why: str) -> Misused:
    return Misused(f"--forbid: the file {why}" if not why.startswith("line") else f"--forbid: {why}", "usage", "forbid")


def _automaton(values: Iterable[str]) -> ahocorasick_rs.AhoCorasick | None:
    patterns = list(values)
    return ahocorasick_rs.AhoCorasick(patterns) if patterns else None


def _is_word(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())
