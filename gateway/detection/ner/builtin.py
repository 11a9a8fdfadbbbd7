"""The model that ships with the gateway: a student that reads everything, a transformer that reads what it doubts."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from gateway.detection.mentions import REACH, is_mention
from gateway.detection.ner.address_labels import without_labels
from gateway.detection.ner.cascade import Flags, answers_of_units, doubtful, near_named, second_readings
from gateway.detection.ner.engine import LOCATION, ORGANIZATION, TokenClassifier, Tokens, Window
from gateway.detection.ner.given_names import label_given_names
from gateway.detection.ner.inference import Chances, Student, odds
from gateway.detection.ner.lists import Lists
from gateway.detection.ner.ordinary_words import OrdinaryWords, WordList
from gateway.detection.ner.spans import TokenLabel, to_words
from gateway.detection.ner.surroundings import is_birth_date, is_goods, is_in_place, is_label
from gateway.detection.ner.units import UnitReader, Units, in_other_scripts
from gateway.detection.ner.word_pieces import WordPieces
from gateway.detection.recognizer import EntityType
from gateway.models import NAME_MODEL, Entity

MODEL = Path(__file__).parent / "model"

# Label of the model -> the recognizers' type for the same thing.
_RECOGNIZER_TYPES = {
    "PERSON": "PERSON",
    "ADDRESS": "STREET_ADDRESS",
    "DATE_OF_BIRTH": "DATE_OF_BIRTH",
    "AGE": "AGE",
    "USERNAME": "USERNAME",
    "MEDICAL_RECORD": "MEDICAL_RECORD_NUMBER",
    "ID": "ID_NUMBER",
}
# Types that the model decides. For all others its score is capped, so that a recognizer with a more specific type wins.
_PRIMARY_TYPES = frozenset({"PERSON", "LOCATION", "ORGANIZATION", "STREET_ADDRESS"})
_MAX_SECONDARY_SCORE = 0.55
_PLACED_TYPES = frozenset({"PERSON", "STREET_ADDRESS"})
_WORD_TYPES = frozenset({"PERSON", "USERNAME"})
_DIGIT_TYPES = frozenset({"MEDICAL_RECORD_NUMBER", "ID_NUMBER"})
_NUMBER_TYPES = _DIGIT_TYPES | {"DATE_OF_BIRTH"}
_CELL = re.compile(r"[^\s\u00a0]+(?:[ \u00a0][^\s\u00a0]+)*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_MIN_DIGITS = 6
# A whole number: groups of digits, or a word with digits. A model may find only a part of it.
_WHOLE_NUMBER = re.compile(
    r"\d{1,4}(?:(?: \d{2,4}){2,}|(?:\.\d{2,4}){2,}|(?:/\d{2,4}){2,}|(?:-\d{2,4}){2,})(?!\w)|\w+(?:[-/]\w+|\.\d+)*"
)
_LONGEST_NUMBER = 40
# The other half of an account name, after or before a person's name.
_OTHER_HALF = re.compile(r"[._]([^\W\d_A-Z]{3,})(?![\w.(/@-])")
_FIRST_HALF = re.compile(r"(?:[^\w.$/@-]|\A)([^\W\d_A-Z]{3,})[._]\Z")
_LONGEST_HALF = 32
_COLUMN_GAP = re.compile(r"[ \t]{3}|\t")
# Directly before or after a word, these make it part of a path, command, address or program identifier.
_CODE_PREFIX = re.compile(r"(?:~/|\.\w{0,5}/|\b(?:bin|etc|usr|lib|opt|var|tmp|src|dev)/|\w-)\Z")
_BEFORE = 8
# Begins only where the characters of an address do, which keeps the search linear.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
# "LLM", "EOF" and "MUST" resemble a name in capitals, about which the model is surer.
_ACRONYM = re.compile(r"[A-Z]{3,4}")
_MIN_ACRONYM_SCORE = 0.95
# `result.isReal`
_MEMBER = re.compile(r"\.[a-z]+[A-Z]\w*")
# `#00aaff`
_COLOUR = re.compile(r"#(?=[A-Fa-f]*\d)[0-9A-Fa-f]{3,8}\b")
_CODE_SUFFIX = re.compile(r"://|[.(]\w|-\w|\(\)")
# The models learned from text in straight quotation marks, and miss half of the names in others.
_QUOTES = dict.fromkeys(map(ord, "“”„‟″«»"), '"')


class BuiltinModel(TokenClassifier):
    """The model that ships with the gateway. `known` are the recognizers' types."""

    def __init__(self, known: Mapping[str, EntityType]) -> None:
        labels = json.loads((MODEL / "labels.json").read_text())
        types = {"LOCATION": LOCATION, "ORGANIZATION": ORGANIZATION}
        types |= {label: known[name] for label, name in _RECOGNIZER_TYPES.items() if name in known}
        self._pieces = WordPieces(MODEL / "tokenizer.json", MODEL / "characters.json")
        super().__init__(MODEL, labels, types, id=NAME_MODEL, special=self._pieces.special)
        student = (MODEL / "student.onnx").read_bytes()
        self._student = Student(student)
        self._reader = UnitReader(MODEL / "ordinary.txt", MODEL / "given.txt")
        self._weights.update(student)
        self.hash = self._weights.hexdigest()
        self.version = f"{NAME_MODEL}+{self.hash[:12]}"
        self._loose = [number for number, one in enumerate(self._classes.types, 1) if one in {LOCATION, ORGANIZATION}]
        self._ordinary = OrdinaryWords(MODEL / "ordinary.txt")
        # Words of places and of other scripts; the student model was trained without them.
        self._nobody = OrdinaryWords(MODEL / "nobody.txt")
        self._given = WordList(MODEL / "given.txt")
        self._lists = Lists(self._ordinary, self._nobody)
        lists = (self._ordinary, self._given, self._nobody)
        self.version = ".".join((self.version, *(one.version for one in lists)))

    def _tokens(self, text: str) -> Tokens:
        return Tokens(*self._pieces.encode(text))

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Has the student read everything, and the transformer what the student doubts."""
        if not texts:
            return []
        texts = [text if text.isascii() else text.translate(_QUOTES) for text in texts]
        own = self._reader.read_all(texts)
        ends = np.cumsum([0, *map(len, own)]).tolist()
        rows = [slice(*each) for each in pairwise(ends)]
        chances = self._student.chances(own)
        again = self._second_readings(texts, own, rows, chances)
        self._read_again(texts, own, [chances[each] for each in rows], again)
        labels: list[dict[int, TokenLabel]] = [{} for _ in texts]
        text = 0
        for row, label in self._classes.classify(chances).items():
            while row >= ends[text + 1]:
                text += 1
            labels[text][row - ends[text]] = label
        found = (list(self._entities(*each)) for each in zip(texts, own, labels, strict=True))
        return [tuple(self._lists.with_siblings(*each)) for each in zip(texts, found, strict=True)]

    def rest(self) -> None:
        """Gives up the memory of the longest texts."""
        self._student.rest()

    def _second_readings(
        self, texts: Sequence[str], own: Sequence[Units], rows: Sequence[slice], chances: Chances
    ) -> list[list[Window]]:
        """Returns what the transformer reads of each text, whose units have `rows` of the probabilities."""
        likely = self._classes.candidates(chances)
        classes = self._classes.chances(chances[likely])
        best = classes.argmax(axis=1)
        doubts, named = np.zeros((2, len(chances)), bool)
        doubts[likely], named[likely] = doubtful(classes, best, self._loose), best > 0
        result: list[list[Window]] = []
        for text, each, some in zip(texts, own, rows, strict=True):
            if not doubts[some].any():
                result.append([])
                continue
            doubts[some] &= ~in_other_scripts(text, each)
            self._drop_moot(text, each, doubts[some], near_named(named[some]))
            result.append(second_readings(doubts[some], named[some]))
        return result

    def _drop_moot(self, text: str, own: Units, doubts: Flags, near: Flags) -> None:
        """Drops doubts whose decision changes nothing: about parts of e-mail addresses, and about ordinary words with
        no name nearby.
        """
        addresses = [found.span() for found in _EMAIL.finditer(text)] if "@" in text else []
        first = last = 0
        is_ordinary = False
        for index in np.flatnonzero(doubts).tolist():
            start, end = int(own.starts[index]), int(own.ends[index])
            if any(low <= start and end <= high for low, high in addresses):
                doubts[index] = False
            elif not near[index]:
                if end > last:  # else of the same word, which may be long
                    first, last = to_words(text, start, end)
                    is_ordinary = self._ordinary.covers(text[first:last])
                doubts[index] = not is_ordinary

    def _read_again(
        self, texts: Sequence[str], own: Sequence[Units], chances: Sequence[Chances], again: Sequence[Sequence[Window]]
    ) -> None:
        """Has the transformer read the units `again` of each text, and writes its answers into `chances`."""
        parts = [
            (number, one, int(own[number].starts[one.first]), int(own[number].ends[one.last - 1]))
            for number, some in enumerate(again)
            for one in some
        ]
        if not parts:
            return
        tokens = [self._tokens(texts[number][start:end]) for number, _, start, end in parts]
        for (number, one, start, _), part, logits in zip(parts, tokens, self._logits(tokens), strict=True):
            kept = slice(one.kept_first, one.kept_last)
            each = own[number]
            answers, read = answers_of_units(
                each.starts[kept] - start,
                each.ends[kept] - start,
                part.offsets,
                odds(logits),
                np.array(part.ids) != self._pieces.unknown,
            )
            read &= ~in_other_scripts(texts[number], each)[kept]
            chances[number][kept] = np.where(read[:, None], answers, chances[number][kept])

    def _correct_labels(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> dict[int, TokenLabel]:
        (person,) = self._classes.persons
        return label_given_names(text, offsets, labels, names=self._given, ordinary=self._ordinary, person=person)

    def _entities(self, text: str, read: Tokens | Units, labels: dict[int, TokenLabel]) -> Iterator[Entity]:
        last = 0
        for found in super()._entities(text, read, labels):
            one = _with_whole_numbers(text, found) if found.type in _NUMBER_TYPES else self._whole_account(text, found)
            if one.type == "DATE_OF_BIRTH" and not is_birth_date(text[one.start : one.end]):
                continue
            if one.end > last:
                yield one._replace(start=max(one.start, last))
                last = one.end

    def _correct(self, text: str, one: Entity) -> Iterator[Entity]:
        """Corrects the model's typical errors: drops ordinary words, labels and plain numbers from an entity."""
        value = text[one.start : one.end]
        if one.type in _PLACED_TYPES and is_in_place(text, one):
            yield one._replace(type="LOCATION")
            return
        if one.type == "PERSON" and (is_label(text, one) or is_goods(text, one)):
            return
        if one.type == "USERNAME" and (
            _CODE_SUFFIX.match(text, one.end) or _CODE_PREFIX.search(text, max(0, one.start - _BEFORE), one.start)
        ):
            return
        if one.type in _WORD_TYPES and self._is_programs(text, one):
            return
        is_acronym = one.type == "PERSON" and one.score < _MIN_ACRONYM_SCORE and _ACRONYM.fullmatch(value)
        if is_acronym and value.lower() not in self._given:
            one = one._replace(type="ORGANIZATION")
        if one.type in _WORD_TYPES:
            yield from self._without_ordinary_cells(text, one)
            return
        if one.type in _DIGIT_TYPES and not any(map(str.isdigit, value)):
            return
        if one.type == "STREET_ADDRESS" and _COLUMN_GAP.search(value) and not any(map(str.isdigit, value)):
            return  # headers of two columns
        if one.type == "STREET_ADDRESS" and not _LETTERS.search(value):
            if sum(char.isdigit() for char in value) < _MIN_DIGITS:
                return
            one = one._replace(type="ID_NUMBER")
        if one.type not in _PRIMARY_TYPES:
            one = one._replace(score=min(one.score, _MAX_SECONDARY_SCORE))
        yield from without_labels(text, one) if one.type == "STREET_ADDRESS" else (one,)

    def _whole_account(self, text: str, one: Entity) -> Entity:
        """Widens a name in small letters to the account that it is half of: `odalys_fuentes`, but not `mark_done`."""
        if one.type not in _WORD_TYPES or not text[one.start : one.end].islower():
            return one
        if (rest := _OTHER_HALF.match(text, one.end)) and rest[1] not in self._ordinary:
            return one._replace(end=rest.end())
        if (rest := _FIRST_HALF.search(text, max(0, one.start - _LONGEST_HALF), one.start)) and (
            rest[1] not in self._ordinary
        ):
            return one._replace(start=rest.start(1))
        return one

    def _is_programs(self, text: str, one: Entity) -> bool:
        """Whether a person or user name is a word of programs: an identifier, the scope of a package, a colour."""
        value, before = text[one.start : one.end], max(0, one.start - 1)
        if text[before] == "#":
            return _COLOUR.match(text, before) is not None
        if text[before] == "@":
            return not is_mention(text[max(0, before - REACH) : before], text[before : one.end + REACH])
        # With a capital, many people choose such words as their user names.
        if one.type == "USERNAME" and not value[0].islower():
            return False
        return self._ordinary.is_identifier(value) or _MEMBER.fullmatch(text, before, one.end) is not None

    def _without_ordinary_cells(self, text: str, one: Entity) -> Iterator[Entity]:
        """Removes neighbouring cells and lines of ordinary words, and places, from a person or user name."""
        limit = 1.0 if one.type in _PRIMARY_TYPES else _MAX_SECONDARY_SCORE
        cells = [
            (one.start + cell.start(), one.start + cell.end()) for cell in _CELL.finditer(text[one.start : one.end])
        ]
        lists = (self._ordinary, self._nobody)
        names = [(start, end) for start, end in cells if not any(one.covers(text[start:end]) for one in lists)]
        for start, end in names if len(names) < len(cells) else [(one.start, one.end)]:
            yield one._replace(start=start, end=end, score=min(one.score, limit))


def _with_whole_numbers(text: str, one: Entity) -> Entity:
    """Widens an entity to the numbers that it begins or ends within."""
    first = max(0, one.start - _LONGEST_NUMBER)
    for found in _WHOLE_NUMBER.finditer(text, first, one.end + _LONGEST_NUMBER):
        if found.start() < one.end and one.start < found.end():
            one = one._replace(start=min(one.start, found.start()), end=max(one.end, found.end()))
    return one
