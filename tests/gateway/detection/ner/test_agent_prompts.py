"""Names are found in the instructions and tool descriptions that agents send only where they name a person."""

import pytest

from gateway.detection import Detector
from gateway.detection.ner.finder import NameFinder
from tests.tables import table

CASES = table(__file__)

# Written for this test, in the manner of several agents.
INSTRUCTIONS = CASES["instructions"]
TOOLS = CASES["tools"]
NAMED = CASES["named"]


@pytest.mark.parametrize("text", [INSTRUCTIONS, *TOOLS])
def test_no_name_is_found_in_instructions(names: NameFinder, detector: Detector, text: str) -> None:
    found = [*names.detect(text), *detector.detect(text)]
    # Programs may be taken for organizations, which are sent in clear.
    assert [text[one.start : one.end] for one in found if one.score >= 0.4 and one.type != "ORGANIZATION"] == []


@pytest.mark.parametrize("text", NAMED)
def test_somebody_is_named(names: NameFinder, text: str) -> None:
    assert NAMED[text] in [text[one.start : one.end] for one in names.detect(text) if one.type == "PERSON"]
