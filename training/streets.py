"""Composes street addresses in the orders that languages use, on one line or on several."""

import random
import string
from collections.abc import Callable

from training.pools import side, streets, suffixes, table, towns

LOOSE = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "vi", "nordic", "cs", "in")
CULTURE = {
    "es": "spanish", "fr": "french", "it": "italian", "pt": "portuguese", "de": "german", "nl": "dutch",
}  # fmt: skip


class Streets:
    """Draws streets, postal codes and whole addresses; ``town`` gives a place for a language."""

    def __init__(
        self, chance: random.Random, language: str, town: Callable[[str], str], country: Callable[[], str]
    ) -> None:
        self.chance = chance
        self.language = language
        self.town = town
        self.country = country
        self.table = table("streets.txt")
        self.names = side(False)

    def _pick(self, key: str) -> str:
        return self.chance.choice(self.table[key])

    def postal(self, language: str) -> str:
        """A postal code in the language's usual form."""
        chance = self.chance
        if language == "en" and chance.random() < 0.35:
            a, b, c, d = chance.choices(string.ascii_uppercase, k=4)
            return f"{a}{b if chance.random() < 0.6 else ''}{chance.randint(1, 29)} {chance.randint(1, 9)}{c}{d}"
        if language == "nl":
            return f"{chance.randint(1000, 9999)} {''.join(chance.choices(string.ascii_uppercase, k=2))}"
        if language == "pl":
            return f"{chance.randint(0, 99):02d}-{chance.randint(100, 999)}"
        if language == "pt":
            return f"{chance.randint(1000, 9999)}-{chance.randint(100, 999)}"
        return f"{chance.randint(1000, 99999):05d}"

    def _number(self) -> str:
        chance = self.chance
        number = str(chance.choice([chance.randint(1, 99), chance.randint(1, 250), chance.randint(100, 9999)]))
        return number + chance.choice(["a", "b", "A", "B", "-12", "/3", " bis"]) if chance.random() < 0.1 else number

    def street(self, language: str = "") -> str:
        """Street and number in the order the language uses."""
        language = language or (self.language if self.chance.random() < 0.6 else self.chance.choice(LOOSE))
        number = self._number()
        if language in {"es", "fr", "it", "pt"}:
            return self._romance(language, number)
        if language in {"de", "nl"}:
            return self._compound(language, number)
        chance = self.chance
        if language == "tr":
            return f"{self._pick('name.tr')} {self._pick('way.tr')} {chance.choice(['No: ', 'No:', 'No '])}{number}"
        if language == "vi":
            lead = chance.choice(["", "đường ", "Đường ", "phố "])
            return f"{chance.choice(['', 'số '])}{number} {lead}{self._pick('name.vi')}"
        if language == "pl":
            name = self._pick("name.pl") if chance.random() < 0.5 else chance.choice(streets("pl"))
            flat = chance.choice(["", "", f"/{chance.randint(1, 90)}", f" m. {chance.randint(1, 90)}"])
            return f"{self._pick('way.pl') + ' ' if chance.random() < 0.85 else ''}{name} {number}{flat}"
        if language in {"nordic", "cs"}:
            return f"{chance.choice(streets(language))} {number}"
        if language == "in":
            lead = chance.choice(["", "Flat ", "House No. ", "Plot No. ", "H.No. ", "#"])
            return f"{lead}{number}, {self._pick('name.en')} {self._pick('area.in')}"
        return self._english(number)

    def _romance(self, language: str, number: str) -> str:
        chance = self.chance
        name = self._pick(f"name.{language}")
        if chance.random() < 0.3:
            pool = self.names[CULTURE[language]]
            name = f"{chance.choice(pool.given)} {chance.choice(pool.family)}"
        way = self._pick(f"way.{language}")
        if language == "fr":
            return f"{number}{chance.choice([' ', ', '])}{way} {name}"
        joint = chance.choice([", ", " ", " "] if language == "it" else [", ", " ", " ", ", nº ", " n. "])
        return f"{way} {name}{joint}{number}"

    def _compound(self, language: str, number: str) -> str:
        chance = self.chance
        stem, end = self._pick(f"name.{language}"), self._pick(f"end.{language}")
        if chance.random() < 0.15:
            pool = self.names[CULTURE[language]]
            stem = f"{chance.choice(pool.given)}-{chance.choice(pool.family)}-"
        elif stem in {
            "Leipziger",
            "Berliner",
            "Frankfurter",
            "Münchner",
            "Hamburger",
            "Bismarck",
            "Nieuwe",
            "Oude",
            "Lange",
        }:
            stem += " "
        return f"{stem}{end.title() if stem.endswith((' ', '-')) else end} {number}"

    def _english(self, number: str) -> str:
        chance = self.chance
        name = self._pick("name.en")
        draw = chance.random()
        if draw < 0.35:
            name = chance.choice(self.names["english"].family)
        elif draw < 0.45:
            name = chance.choice(self.names[chance.choice(list(self.names))].family)
        elif draw < 0.55:
            name = chance.choice(streets(chance.choice(["cs", "nordic", "id", "pl"])))
        way = self._pick("way.en") if chance.random() < 0.75 else chance.choice(suffixes("en_US"))
        lead = chance.choice(["", "", "", "", "", "", "N ", "S. ", "West ", "E "])
        return f"{number} {lead}{name} {way}" if chance.random() < 0.92 else f"{number} {name}"

    def unit(self) -> str:
        """A flat, suite or floor."""
        return self._pick("unit").format(self.chance.randint(1, 999))

    def address(self) -> str:
        """A whole postal address."""
        chance = self.chance
        language = self.language if chance.random() < 0.6 else chance.choice(LOOSE)
        street = self.street(language)
        if chance.random() < 0.06:
            # As in generated forms: a number before a street that has its own.
            street = f"{chance.randint(1, 9999)} {street}"
        joint = "\n" if chance.random() < 0.3 else " " if chance.random() < 0.05 else ", "
        for _ in range(chance.choice([0, 0, 0, 0, 0, 1, 1, 2])):
            street += chance.choice([", ", " ", " ", joint]) + self.unit()
        tail = self._tail(language, joint)
        if chance.random() < 0.15:
            tail += joint + self.country()
        if language == "en" and chance.random() < 0.05:
            return self._military()
        if chance.random() < 0.06:
            return self.corner()
        if "\n" in joint and chance.random() < 0.35:
            # Blank lines and indents, as in letters and forms.
            indent = chance.choice([" ", "  ", "    ", "\t"])
            return f"\n{indent}".join((street + joint + tail).split("\n")).replace(
                "\n", chance.choice(["\n", "\n", "\n\n"])
            )
        if chance.random() < 0.03:
            return f"P.O. Box {chance.randint(10, 9999)}, {tail}"
        return street + joint + tail

    def corner(self) -> str:
        """Where two streets meet."""
        chance = self.chance
        names = self.names[chance.choice(["english", "english", *self.names])]
        name = chance.choice(names.family if chance.random() < 0.5 else names.given)
        other = f"{name} {chance.choice(suffixes('en_US') if chance.random() < 0.5 else self.table['way.en'])}"
        pair = [self.street(), other] if chance.random() < 0.6 else [other, self.street()]
        lead = chance.choice(
            ["the corner of ", "the corner of ", "corner of ", "Corner of ", "the intersection of ", "cnr ", ""]
        )
        return lead + chance.choice([" and ", " and ", " & "]).join(pair)

    def _military(self) -> str:
        """An address of forces abroad, in the United States' form."""
        chance = self.chance
        first = chance.choice(
            ["PSC {}, Box {}", "Unit {} Box {}", "CMR {} Box {}", "USS " + chance.choice(self.names["english"].family)]
        )
        town, state = chance.choice(["APO", "DPO", "FPO"]), chance.choice(["AA", "AE", "AP"])
        return (
            first.format(chance.randint(1, 9999), chance.randint(1, 9999))
            + f"\n{town} {state} {chance.randint(10000, 99999)}"
        )

    def _tail(self, language: str, joint: str) -> str:
        chance = self.chance
        town, code = self.town(language), self.postal(language)
        if language == "en" or chance.random() < 0.1:
            state = self._pick("state") if chance.random() < 0.7 else self.town("en")
            foreign = f"{town}{joint}{self.country()} {code}"
            broken = f"{town}\n, {state}\n {chance.choice([self.country() + ' ', ''])}{code}"
            forms = [f"{town}, {state} {code}"] * 3 + [f"{town} {code}", f"{town}, {code}", f"{town}, {state}", town]
            return chance.choice([*forms, foreign, foreign, broken, broken, f"{town} {state} {code}"])
        area = "".join(chance.choices(string.ascii_uppercase, k=chance.choice([2, 2, 3])))
        if chance.random() < 0.15:
            return chance.choice([f"{town}\n, {area}\n {code}", f"{town}, {area} {code}", f"{town}\n{area}\n{code}"])
        forms = [f"{code} {town}"] * 3 + [town, f"{town} {code}", f"{code} {town} ({town[:2].upper()})"]
        return chance.choice([*forms, f"{town}, {self.country()} {code}", f"{town}\n {self.country()} {code}"])


def town_of(chance: random.Random, language: str) -> str:
    """A town of a language, made up where Faker lists none."""
    pool = side(False)
    parts = table("streets.txt")
    if language == "es":
        lead = chance.choice(["San ", "Santa ", "Villa", "Puerto ", "Las ", "Los "])
        return lead + chance.choice(pool["spanish"].given)
    if language == "fr":
        return (
            chance.choice(["Saint-", "Sainte-"]) + chance.choice(pool["french"].given) + chance.choice(parts["town.fr"])
        )
    if language != "en":
        return chance.choice(towns(language))
    name = chance.choice(pool["english"].family)
    if chance.random() < 0.6:
        return name + chance.choice([*parts["town.en"], " Springs", " Falls", " Heights", " Grove", " City"])
    lead = chance.choice(["North ", "South ", "East ", "West ", "New ", "Port ", "Lake ", "Fort ", "Mount "])
    return lead + name + (chance.choice(parts["town.en"]) if chance.random() < 0.3 else "")
