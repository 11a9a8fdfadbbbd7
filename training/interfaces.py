"""Messages of programs to their users, in many languages: real text from packages under free licences.

It holds the words of a language that no template of ours has; without them, each of its nouns looks like a name. It
names no one but the user, where a value is to be put in.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import PackagePath, files

from babel.messages.mofile import read_mo

from training.corpora import Document
from training.features import Span
from training.pools import people, words

PACKAGES = ("home-assistant-frontend", "apache-superset", "kolibri", "wagtail", "django", "django-allauth")
_SPOKEN = "en|de|fr|es|it|pt|nl|pl|tr|vi"
OTHERS = "af bs ca cs cy da et eu fi ga gl hr hu id is lb lt lv ms nb nn no ro sk sl sq sv".split()
"""Languages without templates of ours."""
_LANGUAGE = re.compile(
    rf"(?:^|/)({_SPOKEN}|{'|'.join(OTHERS)})(?:[-_](?:[A-Z]{{2}}|[0-9]{{3}}|Latn))?(?:-[0-9a-f]{{20,}})?[/.]"
)
_CATALOG = re.compile(r"(?:/locale/.*\.mo|/translations/.*\.mo|/translations/.*\.json|-messages\.json)\Z")
# Values that are put in, in the ways of several libraries, and marks of the page.
_PUT_IN = re.compile(r"%\((?P<a>\w+)\)[sd]|%[sd]|\{\{?\s*(?P<b>\w*)\s*\}?\}|<[^<>]*>")
_SOMEBODY = re.compile(r"(?i)(?:user|learner|coach|author|owner|member|person|student|teacher)(?:_?name)?s?\Z")
HERE = "\ue000"
"""Stands where the user is named."""
_LEFT = re.compile(r"[{}<>]|https?:|%\(")
_WORD = re.compile(r"[^\W\d_]{3,}")


@cache
def lines(language: str) -> tuple[str, ...]:
    """Everything of a language that is said there and names no person or place that we know."""
    known = _named()
    kept: dict[str, None] = {}
    for spoken, text in raw_texts():
        if spoken != language:
            continue
        for line in _sentences(text):
            if _WORD.search(line) and known.isdisjoint(_WORD.findall(line)):
                kept[line] = None
    return tuple(kept)


@cache
def catalog_lines(language: str) -> tuple[str, ...]:
    """Everything that is said there in a language of another script."""
    code = re.compile(rf"(?:^|/){language}(?:[-_](?:[A-Za-z]{{2,4}}|[0-9]{{3}}))?(?:-[0-9a-f]{{20,}})?[/.]")
    kept: dict[str, None] = {}
    for text in (text for file in _catalogs() if code.search(str(file)) for text in _texts(file)):
        kept |= {line: None for line in _sentences(text) if not line.isascii()}
    return tuple(kept)


def _sentences(text: str) -> Iterator[str]:
    """The lines of a text with values put in, without those that are short, long or hold marks of the page."""
    for line in (_PUT_IN.sub(_put_in, raw).strip() for raw in text.splitlines()):
        if 3 < len(line) < 400 and not _LEFT.search(line):
            yield line


def raw_texts() -> Iterator[tuple[str, str]]:
    """Everything that is said, with its language, as it is written."""
    for file in _catalogs():
        if found := _LANGUAGE.search(str(file)):
            yield from ((found[1], text) for text in _texts(file))


def _put_in(found: re.Match[str]) -> str:
    name = found["a"] or found["b"] or ""
    return HERE if _SOMEBODY.match(name) else "" if found[0][0] == "<" else "7"


def said(language: str, chance: random.Random, person: Callable[[], str]) -> Document:
    """A stretch of it: sentences, a list, cells of a table, a menu; with `person` where the user is named."""
    source = lines(language)
    glue, most, longest = chance.choice(
        [(" ", 3, 400), ("\n", 5, 400), ("\n- ", 8, 60), (", ", 8, 30), (" | ", 6, 30), ("\n", 8, 40), (" ", 2, 400)]
    )
    drawn = [chance.choice(source) for _ in range(4 * most)]
    text = glue.join([line for line in drawn if len(line) <= longest][: chance.randint(1, most)])
    if longest < 100 and chance.random() < 0.05:
        text = text.upper()
    first, *rest = text.split(HERE)
    spans: list[Span] = []
    for piece in rest:
        name = person()
        spans.append((len(first), len(first) + len(name), "PERSON"))
        first += name + piece
    return Document(first, tuple(spans))


def _catalogs() -> Iterator[PackagePath]:
    for package in PACKAGES:
        for file in files(package) or ():
            if _CATALOG.search(str(file)) and "test" not in str(file):
                yield file


def _texts(file: PackagePath) -> Iterator[str]:
    with file.locate().open("rb") as stream:  # type: ignore[attr-defined]
        if file.suffix == ".json":
            yield from _strings(json.load(stream))
            return
        for message in read_mo(stream):
            yield from [message.string] if isinstance(message.string, str) else message.string


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)


@cache
def _named() -> frozenset[str]:
    """Words that name somebody or some place. Common ones that are also a given name somewhere cost us a few lines."""
    given = {name for pool in people().values() for name in pool.given if len(name) > 4}
    places = {part for list_ in ("countries.txt", "cities.txt") for place in words(list_) for part in place.split()}
    return frozenset(given | {place for place in places if len(place) > 3})
