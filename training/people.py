"""Composes the names of persons the way people write them."""

import random
from dataclasses import dataclass

from training.pools import CULTURES, LANGUAGE_CULTURES, lines, side, words

MIDDLE = "ABCDEFGHIJKLMNOPRSTVW"
FAMILY_FIRST = {"chinese", "cantonese", "vietnamese", "korean", "japanese"}
TWO_FAMILIES = {"spanish", "iberian", "portuguese"}


@dataclass(frozen=True, slots=True)
class Person:
    """A name as given, family and full form; ``short`` is how others write the bearer."""

    first: str
    last: str
    full: str
    short: str


class People:
    """Draws persons; ``fresh`` draws only names that training never sees."""

    def __init__(self, chance: random.Random, language: str, fresh: bool = False) -> None:
        self.chance = chance
        self.pools = side(fresh)
        self.home = LANGUAGE_CULTURES.get(language, ("english",))
        self.common = words("common_names.txt")
        self.noble = [part.strip() for part in lines("noble.txt")[0].split("|")]
        self.fresh = fresh

    def culture(self) -> str:
        """The document's culture mostly, else any by weight."""
        if self.chance.random() < 0.45:
            return self.chance.choice(self.home)
        return self.chance.choices(list(CULTURES), [weight for _, weight in CULTURES.values()])[0]

    def person(self, culture: str = "") -> Person:
        """One person; one in twelve is a mixture of two cultures."""
        chance = self.chance
        culture = culture or self.culture()
        first = chance.choice(self.pools[culture].given)
        other = self.culture() if chance.random() < 0.12 else culture
        last = chance.choice(self.pools[other].family)
        if not self.fresh and chance.random() < 0.06:
            first = chance.choice(self.common)
        if not self.fresh and chance.random() < 0.05:
            last = chance.choice(self.common)
        if not self.fresh and chance.random() < 0.03:
            first, last = self._invented(), self._invented()
        last = self._family(last, culture)
        full = self._full(first, last, culture)
        short = chance.choice(
            [f"{first} {last[0]}.", f"{first[0]}. {last}", f"{first[0]} {last}", f"{first[0]}. {last}"]
        )
        return Person(first, last, full, short)

    def _invented(self) -> str:
        """An invented name, so that the shape and the place decide."""
        chance = self.chance
        onset = "b c d f g h j k l m n p r s t v w z br ch dr gr kr sh th tr st sl zh kh".split()
        rime = "a e i o u an en in on ar er or el il ia io ai ei ou ash esh ov ek ik una ira".split()
        return "".join(chance.choice(onset) + chance.choice(rime) for _ in range(chance.randint(2, 3))).title()

    def _family(self, last: str, culture: str) -> str:
        chance = self.chance
        draw = chance.random()
        if culture in TWO_FAMILIES and draw < 0.35:
            joint = (
                chance.choice([" ", " ", " ", " y ", "-"])
                if culture != "portuguese"
                else chance.choice([" ", " da ", " dos "])
            )
            return last + joint + chance.choice(self.pools[culture].family)
        if draw < 0.06:
            return f"{last}-{chance.choice(self.pools[culture].family)}"
        if culture in {"dutch", "german", "french", "italian", "portuguese", "spanish"} and 0.4 < draw < 0.52:
            return f"{chance.choice(self.noble)} {last}"
        if culture == "arabic" and draw < 0.2:
            return chance.choice(["Al-", "El-", "al-", "Al ", "bin ", "ibn ", "Abu ", "Ben "]) + last.removeprefix(
                "Al-"
            )
        if culture == "irish" and draw < 0.3:
            return chance.choice(["O'", "O'", "Mc", "Mac"]) + last.removeprefix("O'")
        return last

    def _full(self, first: str, last: str, culture: str) -> str:
        chance = self.chance
        second = chance.choice(self.pools[culture].given)
        draw = chance.random()
        if culture in FAMILY_FIRST and chance.random() < 0.55:
            if culture == "vietnamese":
                return (
                    f"{last} {second} {first}"
                    if draw < 0.7
                    else f"{last} {chance.choice(['Thị', 'Văn', 'Thi', 'Van'])} {first}"
                )
            return f"{last} {first}" if draw < 0.85 else f"{last}, {first}"
        if draw < 0.60:
            return f"{first} {last}"
        if draw < 0.71:
            return f"{first} {chance.choice(MIDDLE)}. {last}"
        if draw < 0.74:
            return f"{first} {chance.choice(MIDDLE)} {last}"
        if draw < 0.80:
            return f"{first} {second} {last}"
        if draw < 0.83:
            return f"{first}-{second} {last}"
        if draw < 0.87:
            return f"{last}, {first}"
        if draw < 0.88:
            return f"{last}, {first} {chance.choice(MIDDLE)}."
        if draw < 0.91:
            return f"{first[0]}. {last}"
        if draw < 0.925:
            return f"{first[0]}. {chance.choice(MIDDLE)}. {last}"
        if draw < 0.94:
            return f"{first[0]}.{chance.choice(MIDDLE)}. {last}"
        if draw < 0.96:
            return f"{first} {last} {chance.choice(['Jr.', 'Sr.', 'II', 'III', 'Jr'])}"
        if draw < 0.98:
            return f"{last} {first}"
        return f'{first} "{second}" {last}'
