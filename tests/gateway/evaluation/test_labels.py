"""The meaning of labels, and the common types of the gateway's own types."""

from typing import Any

import pytest

from gateway.errors import Unprocessable
from gateway.evaluation.labels import LabelMap, Treatment
from tests.tables import table

CASES = table(__file__)

MAP: dict[str, Any] = CASES["map"]


@pytest.mark.parametrize(("file", "section"), CASES["the_section_of_a_file_is_the_longest_name_it_begins_with"])
def test_the_section_of_a_file_is_the_longest_name_it_begins_with(file: str, section: str) -> None:
    assert LabelMap.parse(MAP).section(file) == section


@pytest.mark.parametrize(
    ("section", "label", "common", "treatment"),
    [
        ("claims", "NAME", "PERSON", Treatment.REDACT),
        ("claims", "WEATHER", "OTHER", Treatment.KEEP),
        ("claims_2024", "NAME", "NAME", Treatment.REDACT),
        ("", "NAME", "NAME", Treatment.REDACT),
    ],
)
def test_the_meaning_of_a_label(section: str, label: str, common: str, treatment: Treatment) -> None:
    meaning = LabelMap.parse(MAP).meaning(section, label)
    assert (meaning.common, meaning.treatment) == (common, treatment)


@pytest.mark.parametrize(("section", "type_name", "group", "common"), CASES["the_common_type_of_a_type_of_ours"])
def test_the_common_type_of_a_type_of_ours(section: str, type_name: str, group: str, common: str) -> None:
    assert LabelMap.parse(MAP).common(section, type_name, group) == common


def test_without_a_map_everything_means_itself() -> None:
    labels = LabelMap.parse({})
    assert labels.section("claims.jsonl") == ""
    assert labels.common("", "API_KEY", "secret") == "API_KEY"
    assert labels.meaning("", "API_KEY").treatment is Treatment.REDACT


@pytest.mark.parametrize(
    ("document", "says"),
    CASES["a_map_that_cannot_be_used_is_refused"],
    ids=lambda one: one if isinstance(one, str) else "map",
)
def test_a_map_that_cannot_be_used_is_refused(document: Any, says: str) -> None:
    with pytest.raises(Unprocessable, match=says):
        LabelMap.parse(document)
