"""Composes the bodies that encyclopaedias and news name: teams, bands, parties, schools, agencies, regiments."""

import random
import string
from collections.abc import Callable

from training.pools import side, table, words


class Institutions:
    """Draws names of organisations by kind; ``place`` and ``family`` give the parts that are borrowed."""

    def __init__(self, chance: random.Random, place: Callable[[], str], family: Callable[[], str]) -> None:
        self.chance = chance
        self.place = place
        self.family = family
        self.parts = table("institutions.txt")
        self.countries = words("countries.txt")

    def _pick(self, key: str) -> str:
        return self.chance.choice(self.parts[key])

    def team(self) -> str:
        """A sports club."""
        chance, place = self.chance, self.place()
        draw = chance.random()
        if draw < 0.35:
            return f"{place} {self._pick('mascot')}"
        if draw < 0.55:
            return self._pick("mascot")
        if draw < 0.7:
            return f"{chance.choice(['FC', 'AC', 'SC', 'CF', 'SV', 'VfB', 'AS', 'Real', 'Sporting', 'Dynamo'])} {place}"
        if draw < 0.85:
            return f"{place} {chance.choice(['FC', 'F.C.', 'United', 'City', 'Town', 'Rovers', 'Wanderers', 'RFC'])}"
        return place if draw < 0.93 else f"{place} {self._pick('mascot')[:-1]}"

    def band(self) -> str:
        """A group of musicians."""
        chance = self.chance
        draw = chance.random()
        noun, other = self._pick("noun"), self._pick("noun")
        if draw < 0.35:
            return f"The {self._pick('colour')} {noun}s" if chance.random() < 0.5 else f"The {noun}s"
        if draw < 0.5:
            return f"{self._pick('colour')} {noun}"
        if draw < 0.6:
            return f"{noun} {other}"
        if draw < 0.7:
            pool = side(False)["english"]
            return f"{chance.choice(pool.given)} and the {noun}s"
        if draw < 0.8:
            return f"{noun}{chance.choice(['-', ' '])}{chance.randint(1, 99)}"
        if draw < 0.9:
            return f"{noun} {chance.choice(['of', 'in', 'for', 'at'])} {other}"
        kin = f"{self.family()} {chance.choice(['Trio', 'Quartet', 'Brothers', 'Band'])}"
        return noun.upper() if draw < 0.95 else kin

    def party(self) -> str:
        """A political party or movement, or its letters."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.15:
            return self.letters()
        name = f"{self._pick('creed')} {self._pick('movement')}"
        if draw < 0.4:
            return f"{self._pick('creed')} {name}"
        if draw < 0.6:
            return f"{name} of {chance.choice(self.countries)}"
        if draw < 0.7:
            return f"{self._pick('foreign')} {self._pick('foreign')}"
        return name

    def school(self) -> str:
        """A school, college or university."""
        chance, kind = self.chance, self._pick("school")
        draw = chance.random()
        if draw < 0.25:
            return f"{self.family()} {kind}"
        if draw < 0.4:
            saint = chance.choice(side(False)["english"].given)
            return f"{chance.choice(['St.', 'St', 'Saint'])} {saint}{chance.choice(["'s", ''])} {kind}"
        if draw < 0.65:
            return f"University of {self.place()}"
        return f"{self.place()} {kind}"

    def agency(self) -> str:
        """An office, ministry, court, union, regiment or learned society."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.25:
            return f"{self._pick('office')} of {self._pick('matter')}"
        if draw < 0.4:
            return f"{self._pick('scope')} {self._pick('matter')} {self._pick('body')}"
        if draw < 0.55:
            return f"{self._pick('body')} of {chance.choice([self.place(), self._pick('matter')])}"
        if draw < 0.7:
            return f"{self._pick('scope')} {self._pick('body')}"
        if draw < 0.85:
            return f"{chance.randint(4, 20)}th {self._pick('unit')}"
        return self.letters()

    def letters(self) -> str:
        """An abbreviation."""
        return "".join(self.chance.choices(string.ascii_uppercase, k=self.chance.choice([2, 3, 3, 3, 4, 4, 5])))

    def outlet(self) -> str:
        """A newspaper, broadcaster, label or publisher."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.4:
            return f"{chance.choice(['The ', ''])}{self.place()} {self._pick('paper')}"
        if draw < 0.6:
            letters = chance.choice("KWCB") + "".join(chance.choices(string.ascii_uppercase, k=chance.choice([2, 3])))
            return letters + chance.choice(["", "", "-TV", "-FM"])
        if draw < 0.85:
            return f"{self._pick('noun')} {self._pick('house')}"
        return f"{self.family()} {self._pick('house')}"

    def startup(self) -> str:
        """A young company's coined name."""
        chance = self.chance
        draw = chance.random()
        onset, core, end = self._pick("onset"), self._pick("core"), self._pick("ending")
        if draw < 0.35:
            name = onset + core + end
        elif draw < 0.55:
            name = onset + end
        elif draw < 0.7:
            name = chance.choice(["i", "e", "my", "go", "get", "we", "u"]) + self._pick("thing")
        elif draw < 0.85:
            name = self._pick("thing") + end
        else:
            name = self._pick("thing") + self._pick("thing")
        return name if chance.random() < 0.06 else name[:1].upper() + name[1:]

    def artwork(self) -> str:
        """The title of a book, song or film, which is not a person even if it contains a name."""
        chance, pool = self.chance, side(False)
        noun, other, colour = self._pick("noun"), self._pick("noun"), self._pick("colour")
        given = chance.choice(pool["english"].given)
        return chance.choice(
            [
                f"The {noun}", f"The {colour} {noun}", f"{colour} {noun}", f"{noun} of the {other}",
                f"{noun} and {other}", f"A {noun} in {self.place()}", f"{given} and the {noun}",
                f"The {self.family()} {noun}",
                f"Return to {self.place()}", f"My {colour} {noun}", f"{noun}s", f"In the {noun}", f"Ode to {given}",
                f"The {noun} {chance.choice(['Affair', 'Years', 'Song', 'Diaries', 'Trilogy', 'Suite'])}",
            ]
        )  # fmt: skip

    def prize(self) -> str:
        """An award, medal or chair that bears a name."""
        chance = self.chance
        leads = [self.family(), self.family(), f"{self.place()} {self._pick('matter')}", self._pick("scope")]
        kinds = ["Prize", "Medal", "Award", "Trophy", "Cup", "Fellowship", "Lecture", "Chair"]
        return f"{chance.choice(leads)} {chance.choice(kinds)}"

    def clan(self) -> str:
        """A people, caste or dynasty."""
        chance = self.chance
        stem = chance.choice(side(False)[chance.choice(["african", "indian", "arabic", "slavic", "indonesian"])].family)
        return stem.rstrip("sa") + chance.choice(["s", "as", "i", "is", "ans", "ids", "a dynasty", "i people"])
