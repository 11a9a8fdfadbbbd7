"""The model that ships with the gateway: a student that reads everything, a transformer that reads what it doubts."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from gateway.detection.ner.builtin_decoder import MODEL, BuiltinDecoder, builtin_labels, with_plain_quotes
from gateway.detection.ner.cascade import Flags, answers_of_units, doubtful, near_named, second_readings
from gateway.detection.ner.engine import TokenClassifier, Tokens, Window
from gateway.detection.ner.inference import Chances, Student, odds
from gateway.detection.ner.label_decoder import LOCATION, ORGANIZATION
from gateway.detection.ner.spans import TokenLabel, to_words
from gateway.detection.ner.units import UnitReader, Units, in_other_scripts
from gateway.detection.ner.word_pieces import WordPieces
from gateway.detection.recognizer import EntityType
from gateway.models import NAME_MODEL, Entity

# Begins only where the characters of an address do, which keeps the search linear.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")


class BuiltinModel(TokenClassifier):
    """The model that ships with the gateway. `known` are the recognizers' types."""

    def __init__(self, known: Mapping[str, EntityType]) -> None:
        labels, types = builtin_labels(known)
        self._pieces = WordPieces(MODEL / "tokenizer.json", MODEL / "characters.json")
        super().__init__(MODEL, labels, types, id=NAME_MODEL, special=self._pieces.special)
        student = (MODEL / "student.onnx").read_bytes()
        self._student = Student(student)
        self._reader = UnitReader(MODEL / "ordinary.txt", MODEL / "given.txt")
        self._weights.update(student)
        self.hash = self._weights.hexdigest()
        self._loose = [number for number, one in enumerate(self._classes.types, 1) if one in {LOCATION, ORGANIZATION}]
        self._decoder = builtin = BuiltinDecoder(self._classes)
        self._ordinary = builtin.ordinary
        self.version = f"{NAME_MODEL}+{self.hash[:12]}.{builtin.version}"

    def _tokens(self, text: str) -> Tokens:
        return Tokens(*self._pieces.encode(text))

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Has the student read everything, and the transformer what the student doubts."""
        if not texts:
            return []
        texts = [*map(with_plain_quotes, texts)]
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
        return [
            tuple(self._decoder.entities(text, units.offsets, found))
            for text, units, found in zip(texts, own, labels, strict=True)
        ]

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
