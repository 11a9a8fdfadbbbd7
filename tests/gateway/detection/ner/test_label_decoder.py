"""Labels of tokens become entities, which subclasses may correct."""

from collections.abc import Iterable

import pytest

from gateway.detection.ner.label_decoder import LOCATION, LabelDecoder, ModelLabels
from gateway.detection.ner.spans import TokenLabel
from gateway.detection.recognizer import EntityType
from gateway.models import Entity

PERSON = EntityType("PERSON", "personal", "A person.")
LABELS = ModelLabels(["O", "B-PER", "I-PER", "I-LOC"], {"PER": PERSON, "LOC": LOCATION})
TEXT = "Anna Berg saw Rome"
OFFSETS = [(0, 4), (5, 9), (10, 13), (14, 18)]
FOUND = {0: TokenLabel(1, True, 0.9), 1: TokenLabel(1, False, 0.8), 3: TokenLabel(2, False, 0.7)}


def test_labels() -> None:
    assert (LABELS.types, LABELS.begins, LABELS.inside, LABELS.none) == ([PERSON, LOCATION], [1, -1], [2, 3], 0)
    assert LABELS.persons == {1}


@pytest.mark.parametrize("labels", [["O"], ["I-PER"], ["O", "PER"], ["O", "I-ORG"]])
def test_labels_of_another_form(labels: list[str]) -> None:
    with pytest.raises(ValueError, match="the model"):
        ModelLabels(labels, {"PER": PERSON})


def test_entities() -> None:
    decoder = LabelDecoder(LABELS, "model")
    person, place = Entity("PERSON", 0, 9, 0.85, "model"), Entity("LOCATION", 14, 18, 0.7, "model")
    assert [*decoder.entities(TEXT, OFFSETS, FOUND)] == [person, place]
    assert [*decoder.entities(TEXT, OFFSETS, FOUND | {3: TokenLabel(2, False, 0.4)})] == [person]
    assert [*decoder.entities(TEXT, OFFSETS, {})] == []


def test_corrections() -> None:
    class Correcting(LabelDecoder):
        def _correct(self, text: str, one: Entity) -> Iterable[Entity]:
            return [one._replace(end=one.start + 4)] if one.type == "PERSON" else []

    assert [*Correcting(LABELS, "model").entities(TEXT, OFFSETS, FOUND)] == [Entity("PERSON", 0, 4, 0.85, "model")]
