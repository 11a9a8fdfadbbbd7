"""Several engines asked together: what the others find of a placeholder is nothing, the rest of a finding stays."""

from collections.abc import Mapping

import pytest

from gateway.detection import Detector
from gateway.detection.engines import Engines
from gateway.detection.recognizer import EntityType
from gateway.models import Entity


class Marking:
    """Takes whatever stands between the first and the last exclamation mark for a person."""

    version = "marking"
    types: Mapping[str, EntityType] = {}

    def detect(self, text: str) -> tuple[Entity, ...]:
        return (Entity("PERSON", text.index("!") + 1, text.rindex("!"), 0.9, "marking"),)

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ask !Anna Schmidt! today", ["Anna Schmidt"]),
        ("ask ![PERSON_7KQ2M]! today", []),
        ("ask !Anna [PERSON_7KQ2M]! today", ["Anna"]),
        ("ask !Anna [PERSON_7KQ2M] Schmidt! today", ["Anna", "Schmidt"]),
        ("ask ![PERSON_7KQ2M] [PERSON_8KQ2M]! today", []),
        ("[PERSON_7KQ2M] ask !Anna! [PERSON_8KQ2M]", ["Anna"]),
    ],
)
def test_a_placeholder_is_nobodys_name(text: str, found: list[str]) -> None:
    engines = Engines(Detector(), [Marking()])
    assert [text[one.start : one.end] for one in engines.detect(text) if one.recognizer == "marking"] == found
