"""Documents to measure on: ten kinds whose templates no training text shares, with names that training never drew."""

import random
from collections.abc import Iterator
from pathlib import Path

from training.corpora import Document
from training.fill import Filler
from training.noise import lower, unmarked
from training.people import Person

FOLDER = Path(__file__).parent / "heldout"
CULTURES = (
    "english", "spanish", "german", "french", "italian", "portuguese", "dutch", "polish", "turkish", "vietnamese",
    "chinese", "indian", "arabic",
)  # fmt: skip
OWN = {
    "spanish": "es",
    "german": "de",
    "french": "fr",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "polish": "pl",
    "turkish": "tr",
    "vietnamese": "vi",
}


def _blocks(name: str) -> list[tuple[str, str]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    blocks = [block.partition("\n") for block in text.split("=== ")[1:]]
    return [(head.strip(), body.strip()) for head, _, body in blocks]


KINDS = [head for head, _ in _blocks("kinds.txt")]


class _Fresh(Filler):
    """Fills with kept-back names of one culture."""

    def __init__(self, chance: random.Random, language: str, culture: str) -> None:
        super().__init__(chance, language, fresh=True)
        self.bearer = culture

    def _person(self, key: str) -> Person:
        if key not in self.cast:
            self.cast[key] = self.people.person(self.bearer)
        return self.cast[key]


def documents(seed: int, each: int) -> Iterator[tuple[str, str, str, Document]]:
    """Culture, kind, dress (``proper``, ``unmarked`` or ``lower``) and document; ``each`` documents a culture.

    A third of the documents of a culture with templates of its own is in its language; a fifth is in small letters.
    """
    english, own = _blocks("kinds.txt"), _blocks("languages.txt")
    for culture in CULTURES:
        for number in range(each):
            chance = random.Random(f"{seed}:{culture}:{number}")
            language = OWN.get(culture, "en") if number % 3 == 0 else "en"
            local = [(head.partition(" ")[2], body) for head, body in own if head.startswith(language + " ")]
            kind, body = chance.choice(local) if local else english[number % len(english)]
            body = body.replace("[", "\\[").replace("]", "\\]")
            document = _Fresh(chance, language, culture).fill(body)
            dress = "lower" if number % 5 == 4 else "unmarked" if number % 5 == 2 else "proper"
            changed = lower(document) if dress == "lower" else unmarked(document) if dress == "unmarked" else document
            yield culture, kind, dress, changed
