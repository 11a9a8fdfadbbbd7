"""Composes places and organisations, and hands on addresses."""

import random
import string

from training.institutions import Institutions
from training.pools import lines, side, table, towns, words
from training.streets import LOOSE, Streets, town_of


class Places:
    """Draws places, addresses and organisations."""

    def __init__(self, chance: random.Random, language: str) -> None:
        self.chance = chance
        self.language = language
        self.countries = words("countries.txt")
        self.cities = words("cities.txt")
        self.regions = words("regions.txt")
        self.known = lines("organisations.txt")[0].split("|")
        self.parts = table("company_words.txt")
        streets = Streets(chance, language, self._town, self.country)
        self.street, self.address, self.corner = streets.street, streets.address, streets.corner
        bodies = Institutions(chance, self.city, self._family)
        self.team, self.band, self.party, self.school = bodies.team, bodies.band, bodies.party, bodies.school
        self.agency, self.letters, self.outlet = bodies.agency, bodies.letters, bodies.outlet
        self.startup, self.artwork, self.prize, self.clan = bodies.startup, bodies.artwork, bodies.prize, bodies.clan

    def _town(self, language: str) -> str:
        return self.chance.choice(self.cities) if self.chance.random() < 0.3 else town_of(self.chance, language)

    def city(self) -> str:
        """A town: well known, or one of the language's own."""
        chance = self.chance
        if chance.random() < 0.5:
            return chance.choice(self.cities)
        language = self.language if chance.random() < 0.5 else chance.choice(LOOSE)
        if language in {"en", "fr", "es"}:
            return town_of(chance, language) if chance.random() < 0.6 else chance.choice(self.cities)
        return chance.choice(towns(language))

    def country(self) -> str:
        """A country or territory."""
        return self.chance.choice(self.countries)

    def region(self) -> str:
        """A state, region, lake, mountain or well-known spot."""
        return self.chance.choice(self.regions)

    def place(self) -> str:
        """Any place."""
        draw = self.chance.random()
        return self.city() if draw < 0.5 else self.country() if draw < 0.8 else self.region()

    def _family(self) -> str:
        pool = side(False)
        culture = "english" if self.chance.random() < 0.5 else self.chance.choice(list(pool))
        return self.chance.choice(pool[culture].family)

    def org(self) -> str:
        """A company or institution, known or made up."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.25:
            return chance.choice(self.known)
        if draw < 0.40:
            kinds = (self.startup, self.startup, self.startup, self.team, self.school, self.agency, self.outlet)
            return chance.choice(kinds)()
        name = self._made_up(chance.uniform(0.3, 1.0))
        if chance.random() < 0.3:
            name += (", " if chance.random() < 0.1 else " ") + chance.choice(self.parts["suffix"])
        return name

    def _made_up(self, draw: float) -> str:
        chance = self.chance
        pick = {key: chance.choice(values) for key, values in self.parts.items()}
        coined = (pick["stem"] + pick["tail"]).title()
        if draw < 0.38:
            joined = pick["half"] + chance.choice([pick["other"], pick["other"], pick["end"]])
            return chance.choice(
                [joined, joined, joined.title(), joined.title(), joined.upper(), f"{joined} {pick['trade']}"]
            )
        if draw < 0.46:
            styled = coined[: len(pick["stem"])] + coined[len(pick["stem"]) :].title()
            return chance.choice([coined, coined, coined, coined.upper(), styled, coined.lower()])
        if draw < 0.60:
            return f"{pick['word']} {pick['trade']}"
        if draw < 0.68:
            return f"{self._family()} {pick['trade']}"
        if draw < 0.74:
            return f"{self._family()}{chance.choice([' & ', ' and ', '-', '-'])}{self._family()}"
        if draw < 0.80:
            return f"{self._family()}, {self._family()} {chance.choice(['&', 'and', 'and'])} {self._family()}"
        if draw < 0.84:
            return "".join(chance.choices(string.ascii_uppercase, k=chance.choice([2, 3, 3, 4])))
        if draw < 0.92:
            kind = pick["kind"]
            of_city = f"University of {self.city()}" if "Univ" in kind else f"{kind} of {self.city()}"
            return chance.choice(
                [f"{self.city()} {kind}", f"{pick['word']} {kind}", of_city, f"{self._family()} {kind}"]
            )
        if draw < 0.95:
            return f"{self._family()} {chance.choice(self.parts['suffix'])}"
        return f"{coined} {pick['trade']}"
