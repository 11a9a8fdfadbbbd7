"""Labelled text in which words resemble names and are none: products, part numbers, eponyms, frames, columns.

Names are next to them, so that neither the word nor the kind of text decides alone. The templates are those of
`templates/contrasts.txt`; what they cannot say, columns aligned by blanks, is drawn here.
"""

import random
import string
from collections.abc import Iterator
from functools import cache

from training.corpora import Document
from training.fill import Filler
from training.generate import one, templates
from training.layouts import Layouts
from training.noise import join, noisy
from training.pools import lines, side

_JOINED = (", ", ", ", ", ", " / ", " | ", "; ", "\n- ", " · ", ",", " and ")
_GIVEN = 0.2
"""Share of the tools that have a given name, as some do."""
_CAREFUL = 0.05
_SEVERAL = (1, 1, 1, 2, 3)
_COLUMN_KINDS = ("person", "first", "last", "tool", "part", "number", "date", "city", "words", "email", "org", "user")


@cache
def _tools() -> tuple[str, ...]:
    return tuple(word for line in lines("tools.txt") for word in line.split())


class Contrasts(Filler):
    """Fills the slots that look like names and are labelled as nothing, besides those of every template."""

    def _value(self, slot: str) -> tuple[str, str]:
        own = {
            "tool": self.tool,
            "daemon": lambda: (
                self.tool().lower() + self.chance.choice(("", "", "", "d", "ctl", "-agent", "let", "viz"))
            ),
            "tools": lambda: self.chance.choice(_JOINED).join(self.tool() for _ in range(self.chance.randint(3, 9))),
            "part": self.part,
            "made": lambda: self.people.person().last,
            "given": lambda: self.people.person().first,
            "digits": lambda: self.values.digits(self.chance.randint(4, 9)),
        }.get(slot)
        if own is not None:
            return own(), ""
        if slot == "shop":
            name = self.places.org()
            return name.upper() if self.chance.random() < 0.7 else name, "ORGANIZATION"
        return super()._value(slot)

    def tool(self) -> str:
        """The name of a program, a library or a language."""
        chance = self.chance
        draw = chance.random()
        if draw < _GIVEN:
            return chance.choice(side(fresh=False)[self.people.culture()].given)
        word = chance.choice(_tools())
        if word.islower() and draw < 0.75:
            word = word.capitalize()
        return word + (
            chance.choice(("JS", ".js", "DB", "SQL", "++", "ML", "Kit", " 2", "ctl", "Hub")) if draw > 0.95 else ""
        )

    def part(self) -> str:
        """The number of a part or model: letters and figures."""
        chance = self.chance
        form = chance.choice(
            ("A#", "AA#", "A#A#", "AAA#A", "#A#A", "#-A#-AA#", "AA-#", "AA#-#", "A#AA", "AAA#-A#A", "AA#A#AA#")
        )
        return "".join(
            chance.choice(string.ascii_uppercase)
            if sign == "A"
            else self.values.digits(chance.randint(1, 4))
            if sign == "#"
            else sign
            for sign in form
        )


def _columns(chance: random.Random, language: str) -> Document:
    """A table whose columns are aligned by blanks, with a heading."""
    filler = Contrasts(chance, language)
    layouts = Layouts(chance, language, filler)
    kinds = chance.sample(_COLUMN_KINDS, chance.randint(2, 5))
    rows = [
        [layouts._words(16) if kind == "words" else filler.fill(f"{{{kind}}}") for kind in kinds]
        for _ in range(chance.randint(2, 7))
    ]
    heading = [Document(layouts._words(14).text, ()) for _ in kinds]
    if chance.random() < 0.5:
        heading = [Document(one.text.upper(), ()) for one in heading]
    table = [heading, *rows] if chance.random() < 0.85 else rows
    widths = [max(len(row[at].text) for row in table) + chance.randint(2, 4) for at in range(len(kinds))]
    made: list[Document] = []
    for number, row in enumerate(table):
        cells = [
            join([cell, Document(" " * (width - len(cell.text)), ())], "")
            for cell, width in zip(row[:-1], widths, strict=False)
        ]
        made.append(join([*cells, row[-1]], ""))
        if not number and table[0] is heading and chance.random() < 0.3:
            made.append(Document("-" * sum(widths), ()))
    return join(made, "\n")


def contrasts(count: int, seed: int) -> Iterator[Document]:
    """Yields `count` documents; the same seed gives the same ones."""
    chance = random.Random(f"contrasts {seed}")
    some = [line.split(" ", 1) for line in templates("contrasts")]
    for _ in range(count):
        language, _template = chance.choice(some)
        if chance.random() < 0.12:
            document = _columns(chance, language)
        else:
            filler = Contrasts(chance, language)
            own = [template for spoken, template in some if spoken == language]
            parts = [filler.fill(chance.choice(own)) for _ in range(chance.choice(_SEVERAL))]
            document = noisy(join(parts, chance.choice(("\n", "\n", " ", "\n\n"))), chance, _CAREFUL)
        if chance.random() < 0.25:
            parts = [document, one(chance)]
            chance.shuffle(parts)
            document = join(parts, chance.choice(("\n", "\n\n", " ")))
        yield document
