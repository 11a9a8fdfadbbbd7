"""Source code for the student: nothing in its tokens is a name, whatever the words; names are put into its comments.

`folder` holds a folder for each package. Pygments tells code from comments and strings. In some of the text other words
take an identifier's place, names of people among them, so that the student learns where a word is and not which.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Literal, Name, Text, _TokenType
from pygments.util import ClassNotFound

from training.features import Span
from training.fill import Filler
from training.generate import LANGUAGES
from training.pools import side, words
from training.scripts import LANGUAGES as SCRIPTS
from training.scripts import Names

ENDINGS = frozenset(
    ".py .js .mjs .ts .tsx .java .go .rs .c .h .hpp .cc .cpp .cs .rb .php .sh .sql .kt .swift .scala .lua .r .R .jl"
    " .css .scss .mm .pl .pm .bash .zsh".split()
)
_LARGEST = 400_000
_EACH = 120
"""Files of one ending and package at most."""
_LENGTHS = (400, 1000, 2000, 3500)
_HASH = frozenset({".py", ".rb", ".sh", ".bash", ".zsh", ".r", ".R", ".jl", ".pl", ".pm"})
_DASHES = frozenset({".sql", ".lua"})
_BLOCK = frozenset({".css", ".scss"})
_COMMENTS = (
    "Copyright (c) {year} {person}. All rights reserved.",
    "Copyright {year} {person} <{email}>",
    "Copyright (C) {year}-{year}, {person} and contributors",
    "(c) {year} {person}",
    "Author: {person}",
    "Author: {person} <{email}>",
    "@author {person}",
    "@author {first}",
    "Written by {person}, {date}",
    "Original code by {person}; rewritten by {first} {last}.",
    "Maintainer: {person}",
    "maintained by {person}",
    "Reviewed-by: {person} <{email}>",
    "Reported by {person}, see the ticket.",
    "TODO({first}): remove this",
    "FIXME({user}): ask {first} about it",
    "XXX {first}: this is slow",
    "thanks to {person} for the patch",
    "Based on an idea of {person}.",
    "{first} asked for this",
    "{person} reported that it fails for {first}",
    "see the mail of {person} from {date}",
    "Customer: {person}, {address}",
    "e.g. {person} lives in {city}",
    "called {first} about the order of {person}",
)
_VALUES = (
    'owner = "{person}"',
    "author = '{person}'",
    'const reviewer = "{person}";',
    'name: "{person}",',
    '__author__ = "{person}"',
    "user.setName('{person}');",
    'assert greet("{first}") == "Hello, {first}!"',
    'people = ["{person}", "{person}", "{person}"]',
    'print("Dear {person}, your order is ready")',
    'customer := "{person}"',
    "INSERT INTO people (name, city) VALUES ('{person}', '{city}');",
    'let patient = Patient::new("{person}", 42);',
    '{{"first": "{first}", "last": "{last}"}}',
    'log.info("{first} logged in")',
)
_PUT_IN, _OTHER_WORDS = 0.45, 0.4
_FORMS = {"plain": 55, "numbered": 12, "diff": 12, "fenced": 16, "quoted": 5}
_ASKED = (
    "Please refactor {name}:",
    "What does this do?",
    "Here is {name}, it fails with a TypeError:",
    "Kannst du den Fehler in {name} finden?",
    "Review this file.",
    "Contents of {name}:",
    "```",
)
_FENCES = {".py": "python", ".rs": "rust", ".js": "javascript", ".ts": "typescript", ".rb": "ruby", ".h": "c"}


@dataclass(frozen=True, slots=True)
class Code:
    """A text, which of its characters are code, and the names that were put in."""

    text: str
    marks: bytes
    spans: tuple[Span, ...]


class _Written:
    """A text that grows; spans and marks with it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.marks = bytearray()
        self.spans: list[Span] = []

    def add(self, text: str, is_code: bool = False) -> None:
        self.parts.append(text)
        self.marks += (b"\1" if is_code else b"\0") * len(text)


def files(folder: Path) -> list[Path]:
    """The source files of all packages, some of each ending and package."""
    chance = random.Random(5)
    kept: list[Path] = []
    for package in sorted(folder.iterdir()):
        of: dict[str, list[Path]] = {}
        for file in sorted(package.rglob("*")):
            if file.suffix in ENDINGS and file.is_file() and 300 < file.stat().st_size < _LARGEST:
                of.setdefault(file.suffix, []).append(file)
        for some in of.values():
            kept += chance.sample(some, min(len(some), _EACH))
    return kept


def code(folder: Path, count: int, seed: int) -> Iterator[Code]:
    """Yields stretches of source files, of each ending about as many."""
    chance = random.Random(f"code {seed}")
    of: dict[str, list[Path]] = {}
    for file in files(folder):
        of.setdefault(file.suffix, []).append(file)
    # The square root: C headers and JavaScript have most files, and few others do.
    weights = [len(some) ** 0.5 for some in of.values()]
    while count:
        (some,) = chance.choices([*of.values()], weights)
        made = _stretch(chance.choice(some), chance)
        if made is not None:
            count -= 1
            yield made


def _stretch(file: Path, chance: random.Random) -> Code | None:
    try:
        source = file.read_text("utf-8")
        lexer = get_lexer_for_filename(file.name, stripnl=False, ensurenl=False)
    except (UnicodeDecodeError, ClassNotFound):
        return None
    if max(map(len, source[:50_000].splitlines()), default=0) > 1000:
        return None  # minified
    length = chance.choice(_LENGTHS)
    start = 0 if chance.random() < 0.25 else chance.randrange(max(1, len(source) - length))
    start = source.rfind("\n", 0, start) + 1
    end = source.find("\n", start + length)
    # Lexed from the beginning, since a stretch may begin in a comment.
    source = source[: len(source) if end < 0 else end]
    source, spans = _with_names(source, start, file.suffix, chance) if chance.random() < _PUT_IN else (source, [])
    written = _Written()
    others = _Others(chance) if chance.random() < _OTHER_WORDS else None
    places = iter(sorted(spans))
    planted = next(places, None)
    for first, kind, token in lexer.get_tokens_unprocessed(source):
        at, value = first, token
        before = len(written.marks)
        if at < start:
            if at + len(value) <= start:
                continue
            value, at = value[start - at :], start
        is_code, end = _is_code(kind), at + len(value)
        if others is not None and kind in Name and value.isidentifier():
            value = others(value)
        written.add(value, is_code)
        while planted is not None and planted[0] >= at and planted[1] <= end and not is_code:
            shift = before - at
            written.spans.append((planted[0] + shift, planted[1] + shift, planted[2]))
            planted = next(places, None)
        if planted is not None and planted[0] < at:
            planted = next(places, None)
    return _in_form(Code("".join(written.parts), bytes(written.marks), tuple(written.spans)), file, chance)


def _is_code(kind: _TokenType) -> bool:
    if kind in Comment:
        return kind in Comment.Preproc
    return not (kind in Literal.String or kind in Text)


def _with_names(source: str, start: int, suffix: str, chance: random.Random) -> tuple[str, list[Span]]:
    """Puts a few lines with names at blank lines from `start` on, or at its beginning."""
    breaks = [start, *(found.end() for found in re.compile(r"\n(?=[ \t]*\n)").finditer(source, start))]
    places = sorted({chance.choice(breaks[: chance.choice((1, 99))]) for _ in range(chance.randint(1, 3))})
    lead, tail = ("#", "") if suffix in _HASH else ("--", "") if suffix in _DASHES else ("//", "")
    if suffix in _BLOCK or (lead == "//" and chance.random() < 0.3):
        lead, tail = chance.choice(("/*", "/**\n *")), " */"
    parts, spans, last = [source[:start]], [], start
    length = start
    filler = Filler(chance, chance.choices([*LANGUAGES], [*LANGUAGES.values()])[0])
    for place in places:
        is_value = suffix not in _BLOCK and chance.random() < 0.4
        document = filler.fill(_filled(chance.choice(_VALUES if is_value else _COMMENTS), chance))
        text, own = document.text, document.spans
        if chance.random() < 0.1:
            text, own = _foreign(chance)
            is_value = False
        before = "" if is_value else f"{lead} "
        indent = re.match(r"[ \t]*", source[source.rfind("\n", 0, max(0, place - 1)) + 1 :])
        before = (indent[0] if indent and place > start else "") + before
        parts += [source[last:place], before, text, "" if is_value else tail, "\n"]
        length += place - last + len(before)
        spans += [(first + length, end + length, kind) for first, end, kind in own]
        length += len(text) + (0 if is_value else len(tail)) + 1
        last = place
    return "".join([*parts, source[last:]]), spans


def _filled(form: str, chance: random.Random) -> str:
    form = form.replace("{{", "\\{").replace("}}", "\\}").replace("[", "\\[").replace("]", "\\]")
    while "{year}" in form:
        form = form.replace("{year}", str(chance.randint(1989, 2026)), 1)
    return form


def _foreign(chance: random.Random) -> tuple[str, tuple[Span, ...]]:
    """A line of a comment with a name in another script."""
    language = chance.choice([*SCRIPTS])
    name = Names(chance, language).draw("n")
    lead = chance.choice(("@author ", "Author: ", "Copyright 2023 ", "TODO: ", ""))
    return lead + name, ((len(lead), len(lead) + len(name), "PERSON"),)


class _Others:
    """Puts other words in the place of some identifiers: the same ones for the same identifier."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._share = chance.choice((0.05, 0.15, 0.3))
        self._of: dict[str, str] = {}
        pools = [*side(fresh=False).values()]
        self._pools = (
            chance.choice(pools).given,
            chance.choice(pools).given,
            chance.choice(pools).family,
            words("cities.txt"),
            words("things.txt"),
        )

    def __call__(self, identifier: str) -> str:
        if identifier not in self._of:
            change = self._chance.random() < self._share
            self._of[identifier] = self._changed(identifier) if change else identifier
        return self._of[identifier]

    def _word(self) -> str:
        for _ in range(20):
            word = self._chance.choice(self._chance.choice(self._pools))
            if word.isidentifier():
                return word
        return "value"

    def _changed(self, identifier: str) -> str:
        word = self._word()
        if "_" in identifier.strip("_"):
            head, _, rest = identifier.partition("_")
            word = f"{word}_{rest}" if self._chance.random() < 0.5 else f"{head}_{word}"
            return word.upper() if identifier.isupper() else word.lower()
        if identifier.isupper():
            return word.upper()
        if identifier[:1].isupper():
            return word[:1].upper() + word[1:] + self._chance.choice(("", "", "Node", "Error", self._word()))
        if identifier.islower():
            return word.lower()
        return word.lower() + self._chance.choice(("Id", "List", "At", "Of", self._word().capitalize()))


def _in_form(one: Code, file: Path, chance: random.Random) -> Code:
    """The text as agents send it."""
    (form,) = chance.choices([*_FORMS], [*_FORMS.values()])
    if form == "plain":
        return one
    written = _Written()
    if form in {"fenced", "diff"}:
        written.add(_head(form, one, file, chance))
    number = chance.randint(1, 900)
    signs, separator = chance.choice(("+", "+", " +-")), chance.choice(("\t", "→", ": ", " | "))
    places: list[int] = []
    at = 0
    for line in one.text.split("\n"):
        lead = {"numbered": f"{number:6d}{separator}", "diff": chance.choice(signs), "quoted": "> "}.get(form, "")
        number += 1
        written.add(lead)
        places += range(len(written.marks), len(written.marks) + len(line) + 1)
        written.parts.append(line)
        written.marks += one.marks[at : at + len(line)]
        written.add("\n")
        at += len(line) + 1
    if form == "fenced":
        written.add(chance.choice(("```\n", "```\n\nThanks!\n", "")))
    spans = tuple((places[start], places[end - 1] + 1, kind) for start, end, kind in one.spans)
    return Code("".join(written.parts), bytes(written.marks), spans)


def _head(form: str, one: Code, file: Path, chance: random.Random) -> str:
    if form == "diff":
        count = one.text.count("\n") + 1
        lead = f"diff --git a/{file.name} b/{file.name}\n--- a/{file.name}\n+++ b/{file.name}\n"
        return f"{lead}@@ -1,{count} +1,{count} @@\n"
    asked = chance.choice(_ASKED).replace("{name}", file.name)
    fence = _FENCES.get(file.suffix, file.suffix[1:]) if chance.random() < 0.8 else ""
    return f"{asked}\n```{fence}\n" if asked != "```" else f"```{fence}\n"
