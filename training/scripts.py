"""Labelled text in other scripts, from which the student learns names that the transformer does not know.

The vocabulary has the letters of these scripts and hardly a word, so that a name is a run of letters to the student:
its shape, and what stands around it. Sentences come from own templates and from the catalogs of `interfaces.py`; names
from Faker, and where it has few, from lists of common surnames and of syllables of given names.
"""

import random
import re
import tomllib
from collections.abc import Iterator
from functools import cache

from faker import Faker

from training.corpora import Document
from training.fill import choose
from training.generate import TEMPLATES, generated, templates
from training.interfaces import HERE, catalog_lines
from training.noise import join

FOLDER = TEMPLATES / "scripts"
# Language -> locales of Faker, weight.
LANGUAGES: dict[str, tuple[tuple[str, ...], int]] = {
    "ru": (("ru_RU",), 10),
    "uk": (("uk_UA",), 6),
    "bg": (("bg_BG",), 4),
    "el": (("el_GR",), 6),
    "he": (("he_IL",), 6),
    "ar": (("ar_AA", "ar_SA"), 10),
    "fa": (("fa_IR",), 5),
    "hi": (("hi_IN",), 8),
    "ne": (("ne_NP",), 3),
    "bn": (("bn_BD",), 4),
    "ta": (("ta_IN",), 3),
    "th": (("th_TH",), 6),
    "zh": (("zh_CN", "zh_TW"), 12),
    "ja": (("ja_JP",), 10),
    "ko": (("ko_KR",), 8),
    "ka": (("ka_GE",), 2),
    "hy": (("hy_AM",), 2),
}
_SLAVIC = frozenset({"ru", "uk", "bg"})
_JOINED = frozenset({"zh", "ja", "ko"})
"""Languages that write the surname first, mostly without a space."""
_INFLECTED = 0.3
_WORDS = 0.12
"""Share of the parts that are ordinary words in no order."""
_FORMS = ("{n}: {s}", "{s} ({n})", "{n}, {s}", "{s} – {n}", "- {n}\n- {s}", "{n} | {s}", "{s}: {n}", "{s}\n{n}")
_CAPITALS = 0.1
_SEPARATORS = (", ", ",", "\t", " | ", ";")
_SLOT = re.compile(r"\{([nfl])\}")
"""A name of a template: in full, the given name, the surname."""


class Names:
    """Draws names of one language."""

    def __init__(self, chance: random.Random, language: str) -> None:
        self._chance = chance
        self._language = language
        self._fakers = [_faker(locale) for locale in LANGUAGES[language][0]]

    def draw(self, part: str) -> str:
        """Returns a name: `n` in full, `f` the given name, `l` the surname."""
        faker = self._chance.choice(self._fakers)
        faker.seed_instance(self._chance.getrandbits(40))
        draw = self._chance.random()
        ending = "male" if draw < 0.5 else "female"
        given = str(getattr(faker, f"first_name_{ending}", faker.first_name)())
        family = str(getattr(faker, f"last_name_{ending}", faker.last_name)())
        own = _own_names()
        if self._language in own["surnames"] and draw > 0.15:
            family = self._chance.choice(own["surnames"][self._language].split())
            syllables = own["given"][self._language].split()
            many = 1 if self._language == "ja" else self._chance.choice((1, 2, 2, 2))
            given = "".join(self._chance.choice(syllables) for _ in range(many))
        if self._language in _SLAVIC and self._chance.random() < _INFLECTED:
            case = self._chance.randrange(3)
            given, family = _inflected(given, case), _inflected(family, case)
        if part != "n":
            return given if part == "f" else family
        if self._language in _JOINED:
            return family + self._chance.choice(("", "", "", " ")) + given
        if self._language in {"ru", "uk"} and self._chance.random() < 0.3:
            middle = getattr(faker, f"middle_name_{ending}", None)
            given = f"{given} {middle()}" if middle else given
            return self._chance.choice((f"{given} {family}", f"{family} {given}"))
        if self._language in {"ru", "uk", "bg"} and self._chance.random() < 0.15:
            return f"{family} {given[0]}."
        return f"{given} {family}"

    def words(self) -> str:
        """Returns a few ordinary words as a sentence; nothing if Faker has none of the language."""
        faker = self._chance.choice(self._fakers)
        faker.seed_instance(self._chance.getrandbits(40))
        sentence = str(faker.sentence(self._chance.choice((2, 4, 8, 14))))
        sentence = sentence.upper() if self._chance.random() < _CAPITALS else sentence
        return "" if sentence.isascii() else sentence


def _inflected(name: str, case: int) -> str:
    """A rough genitive, dative or instrumental of a Slavic name."""
    if name.endswith(("а", "я")):
        return name[:-1] + ("ы", "е", "ой")[case]
    if name.endswith(("й", "ь")):
        return name[:-1] + ("я", "ю", "ем")[case]
    return name + ("а", "у", "ом")[case] if name[-1] not in "оеиуіїыэю" else name


@cache
def _own_names() -> dict[str, dict[str, str]]:
    """Surnames and parts of given names by language, separated by spaces."""
    return tomllib.loads((FOLDER / "names.toml").read_text("utf-8"))


@cache
def _faker(locale: str) -> Faker:
    return Faker(locale)


def _filled(template: str, names: Names) -> Document:
    parts: list[Document] = []
    last = 0
    for found in _SLOT.finditer(template):
        name = names.draw(found[1])
        parts += [Document(template[last : found.start()], ()), Document(name, ((0, len(name), "PERSON"),))]
        last = found.end()
    return join([*parts, Document(template[last:], ())], "")


def _line(language: str, chance: random.Random, longest: int = 200) -> str:
    source = catalog_lines(language)
    lines = (chance.choice(source) for _ in range(40))
    return (
        next((line for line in lines if len(line) <= longest), "7")
        .replace(HERE, "7")
        .replace("{", "(")
        .replace("}", ")")
    )


def _part(language: str, chance: random.Random, names: Names) -> Document:
    draw = chance.random()
    if draw < 0.4:
        return _filled(choose(chance.choice(templates(f"scripts/{language}")), chance), names)
    if draw > 1 - _WORDS and (said := names.words()):
        if chance.random() < 0.4:
            return _filled(chance.choice(_FORMS).replace("{s}", said.rstrip(".")), names)
        return Document(said, ())
    if draw < 0.55:
        form = chance.choice(_FORMS).replace("{s}", _line(language, chance, 80))
        return _filled(form.replace("{n}", chance.choice(("{n}", "{n}", "{f}"))), names)
    if draw < 0.62:
        glue = chance.choice(_SEPARATORS)
        rows = [
            glue.join(chance.sample([_line(language, chance, 25), "{n}", str(chance.randrange(1000))], 3))
            for _ in range(chance.randint(2, 5))
        ]
        return _filled("\n".join(rows), names)
    return Document(chance.choice(("\n", " ")).join(_line(language, chance) for _ in range(chance.randint(1, 5))), ())


def _in_english(chance: random.Random, names: Names) -> Document:
    """An English document whose persons have names of the language."""
    (source,) = generated(1, chance.getrandbits(40))
    parts: list[Document] = []
    last = 0
    for start, end, kind in source.spans:
        name = names.draw("n" if " " in source.text[start:end] else "f")
        swap = kind == "PERSON" and chance.random() < 0.8
        text = name if swap else source.text[start:end]
        parts += [Document(source.text[last:start], ()), Document(text, ((0, len(text), kind),))]
        last = end
    return join([*parts, Document(source.text[last:], ())], "")


def documents(count: int, seed: int) -> Iterator[Document]:
    """Yields `count` documents; the same seed gives the same ones."""
    chance = random.Random(f"scripts {seed}")
    for _ in range(count):
        (language,) = chance.choices([*LANGUAGES], [weight for _, weight in LANGUAGES.values()])
        names = Names(chance, language)
        if chance.random() < 0.12:
            yield _in_english(chance, names)
            continue
        parts = [_part(language, chance, names) for _ in range(chance.choice((1, 1, 2, 3, 5)))]
        yield join(parts, chance.choice(("\n", "\n", " ", "\n\n")))
