"""Fills a template: chooses among alternatives, draws values, and knows where each labelled value came to stand.

A template is one line. ``[a|b|]`` chooses one of its parts (they nest), ``\\n`` is a line break, ``{slot}`` a value.
``{p1}`` to ``{p4}`` are persons that stay the same within a document: ``{p1}`` full, ``{p1.first}``, ``{p1.last}``,
``{p1.short}``, and ``{p1.email}``, ``{p1.user}``. ``{person}``, ``{first}``, ``{last}`` draw someone new each time.
A slot whose word list is in ``lists/words.<language>.txt`` draws a word without a label.
"""

import random
import re
from collections.abc import Callable
from functools import cache

from training.corpora import Document
from training.features import Span
from training.identifiers import Identifiers
from training.people import People, Person
from training.places import Places
from training.pools import LISTS, table

SLOT = re.compile(r"\{([a-z_0-9.]+)\}")
INNERMOST = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
LABELS = {
    "person": "PERSON", "first": "PERSON", "last": "PERSON", "short": "PERSON",
    "city": "LOCATION", "country": "LOCATION", "region": "LOCATION", "place": "LOCATION",
    "address": "ADDRESS", "street": "ADDRESS", "corner": "ADDRESS", "org": "ORGANIZATION",
    "team": "ORGANIZATION", "band": "ORGANIZATION", "party": "ORGANIZATION", "school": "ORGANIZATION",
    "agency": "ORGANIZATION", "letters": "ORGANIZATION", "outlet": "ORGANIZATION", "startup": "ORGANIZATION",
    "dob": "DATE_OF_BIRTH", "age": "AGE", "mrn": "MEDICAL_RECORD", "id": "ID", "hashtag": "PERSON",
    "user": "USERNAME", "handle": "USERNAME",
}  # fmt: skip


@cache
def vocabulary(language: str) -> dict[str, tuple[str, ...]]:
    """Word lists of a language: one ``name: a|b|c`` a line; English fills what a language lacks."""
    found: dict[str, tuple[str, ...]] = {} if language == "en" else dict(vocabulary("en"))
    if (LISTS / f"words.{language}.txt").exists():
        found |= table(f"words.{language}.txt")
    return found


def choose(template: str, chance: random.Random) -> str:
    """The template with every ``[a|b]`` decided; a backslash keeps the sign after it from meaning anything."""
    for index, sign in enumerate("\\|{}[]"):
        template = template.replace("\\" + sign, chr(1 + index))
    while match := INNERMOST.search(template):
        template = template[: match.start()] + chance.choice(match.group(1).split("|")) + template[match.end() :]
    return template.replace("\\n", "\n").replace("\\t", "\t")


class Filler:
    """Fills the templates of one document, so that its persons stay the same."""

    def __init__(self, chance: random.Random, language: str, fresh: bool = False) -> None:
        self.chance = chance
        self.people = People(chance, language, fresh)
        self.places = Places(chance, language)
        self.values = Identifiers(chance, language)
        self.words = vocabulary(language)
        self.cast: dict[str, Person] = {}

    def fill(self, template: str) -> Document:
        """The text with its spans."""
        template = choose(template, self.chance)
        parts: list[str] = []
        spans: list[Span] = []
        length = last = 0
        for match in SLOT.finditer(template):
            before = template[last : match.start()]
            value, label = self._value(match.group(1))
            parts += [before, value]
            length += len(before)
            if label:
                spans.append((length, length + len(value), label))
            length += len(value)
            last = match.end()
        parts.append(template[last:])
        text = "".join(parts)
        for index, sign in enumerate("\\|{}[]"):
            text = text.replace(chr(1 + index), sign)
        return Document(text, tuple(spans))

    def _person(self, key: str) -> Person:
        if key not in self.cast:
            self.cast[key] = self.people.person()
        return self.cast[key]

    def _value(self, slot: str) -> tuple[str, str]:
        name, _, part = slot.partition(".")
        if re.fullmatch(r"p\d", name):
            person, name = self._person(name), part or "person"
        else:
            person = self.people.person()
        own = {"person": person.full, "first": person.first, "last": person.last, "short": person.short}
        if name in own:
            return own[name], "PERSON"
        if name in {"user", "handle", "email", "hashtag"}:
            draw: Callable[[Person], str] = getattr(self.values, name)
            return draw(person), LABELS.get(name, "")
        for source in (self.places, self.values):
            if hasattr(source, name):
                value: str = getattr(source, name)()
                return value, LABELS.get(name, "")
        return self.chance.choice(self.words[name]), ""
