"""Decodes the labels of the model that ships with the gateway, and corrects its typical errors."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gateway.detection.mentions import REACH, is_mention
from gateway.detection.ner.address_labels import without_labels
from gateway.detection.ner.given_names import label_given_names
from gateway.detection.ner.label_decoder import LOCATION, ORGANIZATION, LabelDecoder, ModelLabels
from gateway.detection.ner.lists import Lists
from gateway.detection.ner.ordinary_words import OrdinaryWords, WordList
from gateway.detection.ner.spans import TokenLabel
from gateway.detection.ner.surroundings import is_birth_date, is_goods, is_in_place, is_label
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


def builtin_labels(known: Mapping[str, EntityType]) -> tuple[list[str], dict[str, EntityType]]:
    """Returns the model's labels, and the type of each. `known` are the recognizers' types."""
    types = {"LOCATION": LOCATION, "ORGANIZATION": ORGANIZATION}
    types |= {label: known[name] for label, name in _RECOGNIZER_TYPES.items() if name in known}
    return json.loads((MODEL / "labels.json").read_text()), types


def with_plain_quotes(text: str) -> str:
    """Returns a text as the models read it."""
    return text if text.isascii() else text.translate(_QUOTES)


class BuiltinDecoder(LabelDecoder):
    """Decodes the labels of the model that ships with the gateway."""

    def __init__(self, labels: ModelLabels) -> None:
        super().__init__(labels, NAME_MODEL)
        self.ordinary = OrdinaryWords(MODEL / "ordinary.txt")
        # Words of places and of other scripts; the student model was trained without them.
        self._nobody = OrdinaryWords(MODEL / "nobody.txt")
        self.given = WordList(MODEL / "given.txt")
        self._lists = Lists(self.ordinary, self._nobody)
        self.version = ".".join(one.version for one in (self.ordinary, self.given, self._nobody))

    def entities(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> Iterable[Entity]:
        """Returns the entities of a text, and the names beside them in lists."""
        return self._lists.with_siblings(text, [*self._decoded(text, offsets, labels)])

    def _correct_labels(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> dict[int, TokenLabel]:
        (person,) = self._labels.persons
        return label_given_names(text, offsets, labels, names=self.given, ordinary=self.ordinary, person=person)

    def _decoded(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> Iterator[Entity]:
        last = 0
        for found in super()._decoded(text, offsets, labels):
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
        if is_acronym and value.lower() not in self.given:
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
        if (rest := _OTHER_HALF.match(text, one.end)) and rest[1] not in self.ordinary:
            return one._replace(end=rest.end())
        if (rest := _FIRST_HALF.search(text, max(0, one.start - _LONGEST_HALF), one.start)) and (
            rest[1] not in self.ordinary
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
        return self.ordinary.is_identifier(value) or _MEMBER.fullmatch(text, before, one.end) is not None

    def _without_ordinary_cells(self, text: str, one: Entity) -> Iterator[Entity]:
        """Removes neighbouring cells and lines of ordinary words, and places, from a person or user name."""
        limit = 1.0 if one.type in _PRIMARY_TYPES else _MAX_SECONDARY_SCORE
        cells = [
            (one.start + cell.start(), one.start + cell.end()) for cell in _CELL.finditer(text[one.start : one.end])
        ]
        lists = (self.ordinary, self._nobody)
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
