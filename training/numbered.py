"""Text as numbers, so that windows of it can be drawn, changed and labelled on a GPU by the million.

A text is a row of atoms: the shortest stretches that begin and end both a unit of the student (units.py) and a word of
the transformer's tokenizer. Each distinct atom is kept once. Ordinary words, names and figures belong to classes, whose
members may replace each other: words of one language, case and ending; given names; figures of one length.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from gateway.detection.ner.unit_features import FIRST_FORM, GAPS, is_spaced
from gateway.detection.ner.units import UnitReader
from numpy.typing import NDArray

from training.corpora import Document
from training.features import bio
from training.generate import LANGUAGES
from training.interfaces import lines
from training.pools import side, words

ORDER = tuple(LANGUAGES)
"""Languages in the order of their numbers."""
_WORD = re.compile(r"[^\W\d_]{4,30}")
_NAME = re.compile(r"[^\W\d_]{2,24}")
_BEYOND = 0x10000
_LEAST = 40
"""Members of a class of words with the same ending."""

type Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Source:
    """A document, the number of its language if that is known, and whether its own spans are to be learned."""

    document: Document
    language: int | None = None
    own: bool = False


@dataclass(slots=True)
class Stream:
    """Texts in a row; text `i` is `ends[i - 1]:ends[i]`. `labels` are of units, where the texts' own are learned."""

    atoms: list[Ints] = field(default_factory=list)
    gaps: list[NDArray[np.uint8]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    languages: list[int] = field(default_factory=list)
    labels: list[NDArray[np.uint8]] = field(default_factory=list)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """The stream as arrays to be saved."""
        labels = {f"{name}_labels": np.concatenate(self.labels)} if self.labels else {}
        return {
            f"{name}_atoms": np.concatenate(self.atoms),
            f"{name}_gaps": np.concatenate(self.gaps),
            f"{name}_ends": np.array(self.ends, np.int64),
            f"{name}_languages": np.array(self.languages, np.uint8),
        } | labels


class Numbering:
    """Numbers the atoms of texts."""

    def __init__(self, model: Path) -> None:
        self._reader = UnitReader(model / "ordinary.txt", model / "given.txt")
        self.ids: dict[str, int] = {"": 0}
        self._counts: dict[str, int] = {}
        self.given = frozenset((model / "given.txt").read_text("utf-8").split())
        self.ordinary = frozenset((model / "ordinary.txt").read_text("utf-8").split())

    def number(self, surface: str) -> int:
        """Returns the number of an atom."""
        return self.ids.setdefault(surface, len(self.ids))

    def add(self, source: Source, taught: Stream, own: Stream) -> None:
        """Appends a text to the stream that the transformer labels, or to that with labels of its own."""
        text = source.document.text
        (units,) = self._reader.read_all([text])
        if not len(units):
            return
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        alone = _tables()[0][np.minimum(codes, _BEYOND)]
        # A word of the tokenizer begins at a sign, and after one; a space is between units anyway.
        begins = alone[units.starts] | alone[units.starts - 1]
        unspaced = _tables()[1][np.minimum(codes[units.starts], _BEYOND)]
        # Characters of a script without spaces depend on their neighbours.
        begins[1:] &= ~(unspaced[1:] & unspaced[:-1])
        begins |= np.concatenate([[True], units.starts[1:] > units.ends[:-1]])
        first = np.flatnonzero(begins)
        last = np.concatenate([first[1:], [len(units)]]) - 1
        spans = zip(units.starts[first].tolist(), units.ends[last].tolist(), strict=True)
        surfaces = [text[start:end] for start, end in spans]
        stream = own if source.own else taught
        if source.own and [*map(self._units, surfaces)] != (last - first + 1).tolist():
            return  # a sign that depends on what is before it
        stream.atoms.append(np.array([*map(self.number, surfaces)], np.int32))
        stream.gaps.append(((units.rows[first, -1] - FIRST_FORM) % GAPS).astype(np.uint8))
        stream.ends.append((stream.ends[-1] if stream.ends else 0) + len(first))
        stream.languages.append(0 if source.language is None else 1 + source.language)
        if source.own:
            stream.labels.append(np.array(bio(units.offsets, source.document.spans), np.uint8))

    def _units(self, surface: str) -> int:
        """Returns the number of units of an atom."""
        if surface not in self._counts:
            (units,) = self._reader.read_all([surface])
            self._counts[surface] = len(units)
        return self._counts[surface]


@cache
def _tables() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns which characters the tokenizer takes for a word each, and which are of scripts without spaces."""
    alone, unspaced = np.zeros(_BEYOND + 1, bool), np.zeros(_BEYOND + 1, bool)
    for code in range(_BEYOND):
        char = chr(code)
        alone[code] = _is_punctuation(char)
        unspaced[code] = not is_spaced(char)
    for first, last in ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00)):
        alone[first:last] = True
    alone[_BEYOND] = unspaced[_BEYOND] = True
    return alone, unspaced


def _is_punctuation(char: str) -> bool:
    """Whether BERT's tokenizer takes a character for a word of its own."""
    return unicodedata.category(char).startswith("P") or (char.isascii() and not char.isalnum() and not char.isspace())


class Classes:
    """Classes of atoms. Class 0 has no members."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self.members: list[list[int]] = [[]]
        self.of: list[dict[int, int]] = [{} for _ in ORDER]
        """For each language, the class of an atom."""

    def add(self, surfaces: Iterable[str], languages: Sequence[int]) -> None:
        """Adds a class for texts of some languages; an atom that has one already keeps it."""
        members = sorted({self._numbering.number(one) for one in surfaces})
        if len(members) < 2:
            return
        self.members.append(members)
        for language in languages:
            for one in members:
                self.of[language].setdefault(one, len(self.members) - 1)

    def add_words(self, vocabulary: Iterable[str], language: int) -> None:
        """Adds classes for words in small letters, with a capital and in capitals, by their last two letters."""
        endings: dict[str, list[str]] = defaultdict(list)
        for word in vocabulary:
            endings[word[-2:]].append(word)
        rest = [word for some in endings.values() if len(some) < _LEAST for word in some]
        for some in [*(some for some in endings.values() if len(some) >= _LEAST), rest]:
            for shape in (str.lower, str.capitalize, str.upper):
                self.add(map(shape, some), [language])

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The classes as arrays to be saved."""
        return {
            "members": np.array([one for some in self.members for one in some], np.int32),
            "member_starts": np.cumsum([0, *map(len, self.members)]).astype(np.int32),
            **{f"class_atoms_{i}": np.array([*of], np.int32) for i, of in enumerate(self.of)},
            **{f"class_{i}": np.array([*of.values()], np.int32) for i, of in enumerate(self.of)},
        }


def vocabularies(numbering: Numbering, counts: Sequence[Counter[str]]) -> list[set[str]]:
    """Returns the words of each language in small letters, given how often each word occurs in text of it."""
    result: list[set[str]] = []
    for language, count in zip(ORDER, counts, strict=True):
        said = Counter(word for line in lines(language) for word in line.split())
        kept = {
            word
            for some in (count, said)
            for word, times in some.items()
            if word.islower() and _WORD.fullmatch(word) and (times > 1 or word in numbering.ordinary)
        }
        result.append(kept - numbering.given)
    return result


def classes(numbering: Numbering, vocabulary: Sequence[set[str]]) -> Classes:
    """Returns the classes of words, names, towns and figures, given the words of each language."""
    result = Classes(numbering)
    everywhere = range(len(ORDER))
    pools = side(fresh=False).values()
    for names in (
        {name for pool in pools for name in pool.given if _NAME.fullmatch(name)},
        {name for pool in pools for name in pool.family if _NAME.fullmatch(name)},
        {name for name in words("cities.txt") if _NAME.fullmatch(name)},
    ):
        plain = {name for name in names if name.lower() not in numbering.ordinary}
        result.add(plain, everywhere)
        result.add(map(str.lower, plain), everywhere)
        result.add(map(str.upper, plain), everywhere)
    for number, known in enumerate(vocabulary):
        result.add_words(sorted(known), number)
    figures: dict[int, set[str]] = defaultdict(set)
    for surface in list(numbering.ids):
        if surface.isdecimal() and surface.isascii() and len(surface) <= 10:
            figures[len(surface)].add(surface)
    for some in figures.values():
        result.add(some, everywhere)
    return result


def guessed(stream: Stream, surfaces: Sequence[str], vocabulary: Sequence[set[str]]) -> None:
    """Gives texts of an unknown language that with the most words of their own."""
    of = np.zeros((len(surfaces), len(ORDER)), np.uint8)
    for number, known in enumerate(vocabulary):
        of[:, number] = [surface in known for surface in surfaces]
    for text, atoms in enumerate(stream.atoms):
        if not stream.languages[text]:
            # English first, if there is none.
            stream.languages[text] = 1 + int(of[atoms].sum(axis=0, dtype=np.int64).argmax())


def cased(numbering: Numbering, atoms: Ints) -> dict[str, Ints]:
    """Returns the number of each atom in small letters and in capitals; its own if it has no such form or is rare."""
    surfaces = list(numbering.ids)
    often = np.bincount(atoms, minlength=len(surfaces)) > 1
    forms: dict[str, list[int]] = {"lower": [], "upper": []}
    for number, surface in enumerate(surfaces):
        for name, other in (("lower", surface.lower()), ("upper", surface.upper())):
            known = other in numbering.ids or often[number]
            forms[name].append(numbering.number(other) if known else number)
    added = range(len(surfaces), len(numbering.ids))
    return {name: np.array([*of, *added], np.int32) for name, of in forms.items()}
