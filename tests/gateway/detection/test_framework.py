"""Recognizers are found by folder, and a wrong one is refused at start with its name."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.detection import DefinitionError, Detector, EntityType
from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from tests.test_extension import FILES

STAFF_ID = EntityType("STAFF_ID", "custom", "A staff number of a company that does not exist.")
STAFF = PatternRecognizer(
    "staff_id",
    STAFF_ID,
    (Pattern(r"\bSTAFF-\d{6}\b", 0.8),),
    examples=(Example("ask STAFF-204711", "STAFF-204711"),),
    counter_examples=("STAFF-1",),
)


@pytest.mark.slow
def test_a_file_dropped_into_a_folder_is_a_recognizer(tmp_path: Path, detector: Detector) -> None:
    (tmp_path / "badge.py").write_text(FILES["recognizers/badge.py"])
    (tmp_path / "_helper.py").write_text("raise RuntimeError('helpers are not imported')")
    extended = Detector(folders=[tmp_path])
    (found,) = extended.detect("Please give VISITOR-1234 a coffee.")
    assert (found.type, found.start, found.end, found.recognizer) == ("BADGE", 12, 24, "badge")
    assert extended.types["BADGE"].group == "custom"
    assert extended.version != detector.version
    assert detector.detect("Please give VISITOR-1234 a coffee.") == ()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.py", "", r"empty.*RECOGNIZERS"),
        ("other.toml", '[[recognizers]]\nid = "a"', r"other\.toml"),
        ("broken.toml", "[[recognizers]", r"broken\.toml"),
    ],
)
def test_a_file_without_recognizers_is_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DefinitionError, match=said):
        Detector(folders=[tmp_path])


def test_two_recognizers_of_one_id_are_refused() -> None:
    with pytest.raises(DefinitionError, match="staff_id"):
        Detector([STAFF, replace(STAFF, patterns=(Pattern(r"\bSTAFF-\d{6}", 0.7),))])


def test_one_type_defined_in_two_ways_is_refused() -> None:
    other = replace(STAFF, id="other", type=replace(STAFF_ID, group="account"))
    with pytest.raises(DefinitionError, match="STAFF_ID"):
        Detector([STAFF, other])


def test_two_recognizers_may_share_a_type() -> None:
    other = PatternRecognizer("staff_mail", STAFF_ID, (Pattern(r"\bstaff\d{6}@", 0.6),))
    assert list(Detector([STAFF, other]).types) == ["STAFF_ID"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (replace(STAFF, type=replace(STAFF_ID, group="nonsense")), "nonsense"),
        (replace(STAFF, patterns=()), "prefilters"),
        (replace(STAFF, patterns=(Pattern(r"(?=STAFF)", 0.5),)), "prefilters"),
        (replace(STAFF, patterns=(Pattern(r"(STAFF)-\1", 0.5, prefilter="STAFF"),)), "RE2"),
        (replace(STAFF, examples=(Example("STAFF-1", "STAFF-1"),)), "example 0"),
        (replace(STAFF, examples=(Example("STAFF-204711", "STAFF-204711", score=0.9),)), "example 0"),
        (replace(STAFF, counter_examples=("STAFF-204711",)), "counter-example 0"),
    ],
    ids=["group", "no prefilters", "look-ahead", "back-reference", "not found", "weaker", "found"],
)
def test_a_wrong_definition_is_refused_with_its_reason(wrong: PatternRecognizer, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Detector([wrong])


def test_the_version_follows_the_definitions() -> None:
    versions = {
        Detector([STAFF]).version,
        Detector([replace(STAFF, patterns=(Pattern(r"\bSTAFF-\d{6}\b", 0.81),))]).version,
        Detector([replace(STAFF, context=("staff",))]).version,
        Detector([replace(STAFF, validator=lambda value: None)]).version,
    }
    assert len(versions) == 4
    assert Detector([STAFF]).version in versions
    assert all(version.startswith("patterns-") for version in versions)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_version_is_the_same_in_every_process(seed: str, detector: Detector) -> None:
    """Receipts of two starts can be compared. The order of a set changes with the seed."""
    told = "from gateway.detection.discovery import definitions_digest, discover\nprint(definitions_digest(discover()))"
    done = subprocess.run(
        [sys.executable, "-c", told],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert detector.version.endswith(f"+{done.stdout[:12]}")


def test_context_raises_and_a_validator_overrides_the_score() -> None:
    def even(value: str) -> bool | None:
        last = int(value[-1])
        return None if last == 1 else last % 2 == 0

    detector = Detector(
        [
            replace(
                STAFF, patterns=(Pattern(r"\bSTAFF-\d{6}\b", 0.3),), context=("employee",), validator=even, examples=()
            )
        ]
    )

    def score(text: str) -> float | None:
        found = detector.detect(text)
        return found[0].score if found else None

    assert score("see STAFF-204711") == 0.3
    assert score("the employee is STAFF-204711") == 0.7
    assert score("STAFF-204711 (employee)") == 0.7
    assert score("see STAFF-204712") == 1.0
    assert score("the employee is STAFF-204713") is None
