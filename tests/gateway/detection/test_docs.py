"""The examples of docs/adding-a-recognizer.md, docs/detection.md and the package's README work."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gateway.detection import Detector
from gateway.detection.recognizers._numbers.number import Number
from gateway.detection.recognizers.keys import Key
from gateway.models import PrivacyMode
from tests.gateway.evaluation.words import seeker

DOCS = Path(__file__).resolve().parents[3] / "docs"
LOOK_ALIKES = json.loads((DOCS.parent / "tests/vectors/detection/look_alikes.json").read_text("utf-8"))


@pytest.mark.slow
def test_the_package_works_without_the_rest_of_the_gateway(tmp_path: Path) -> None:
    gateway = DOCS.parent / "gateway"
    shutil.copytree(gateway / "detection", tmp_path / "gateway" / "detection", ignore=shutil.ignore_patterns("*.pyc"))
    for name in ("models.py", "errors.py"):
        shutil.copy(gateway / name, tmp_path / "gateway")
    (tmp_path / "gateway" / "__init__.py").touch()
    patterns, names, recognizer = re.findall(
        r"```python\n(.*?)```", (gateway / "detection/README.md").read_text(), re.DOTALL
    )
    environ = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", patterns + names + recognizer]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
    assert re.findall(r"^[A-Z_]+ \d+ \d+", done.stdout, re.MULTILINE) == ["EMAIL_ADDRESS 15 32", "PHONE_NUMBER 34 49"]
    assert {"type='PERSON', start=0, end=8", "type='LOCATION', start=18, end=24"} <= set(
        re.findall(r"type='[A-Z]+', start=\d+, end=\d+", done.stdout)
    )


@pytest.mark.slow
def test_the_recognizer_of_the_walk_through_is_found_and_finds(tmp_path: Path) -> None:
    printed = (DOCS / "adding-a-recognizer.md").read_text("utf-8")
    (tmp_path / "parcel.py").write_text(printed.split("```python\n")[1].split("```")[0], "utf-8")
    detector = Detector(folders=[tmp_path])
    found = [one for one in detector.detect("Ihre Sendung RR473124829GB ist da.") if one.recognizer == "parcel.s10"]
    assert [(one.type, one.start, one.end, one.score) for one in found] == [("TRACKING_NUMBER", 13, 26, 1.0)]


@pytest.mark.slow
def test_the_table_of_the_walk_through_is_found_and_finds(tmp_path: Path) -> None:
    printed = (DOCS / "adding-a-recognizer.md").read_text("utf-8")
    (tmp_path / "locker.toml").write_text(printed.split("<!-- table -->\n```toml\n")[1].split("```")[0], "utf-8")
    found = [one for one in Detector(folders=[tmp_path]).detect("It is in locker 0815.") if one.type == "LOCKER"]
    assert [(one.start, one.end, one.recognizer) for one in found] == [(16, 20, "locker")]


def test_the_row_and_the_line_of_the_walk_through_are_sound() -> None:
    printed = (DOCS / "adding-a-recognizer.md").read_text("utf-8")
    section = printed.split("## A table row")[1]
    numbers, keys = (tomllib.loads(part.split("```")[0]) for part in section.split("```toml\n")[1:])
    [(name, [row])] = numbers.items()
    number = Number.model_validate({"name": name, **row})
    check = number.is_valid()
    assert check is not None
    assert check(number.example.replace(" ", ""))
    assert len(number.example) in {len(shape) for shape, _, _ in number.shapes()}
    [(name, content)] = keys.items()
    key = Key.model_validate(content).recognizer(name)
    [found] = Detector([key]).detect(f"curl -u {key.examples[0].value}: x")
    assert (found.type, found.recognizer) == ("API_KEY", "api_key.acme")


def test_every_group_is_in_the_docs(detector: Detector) -> None:
    printed = (DOCS / "detection.md").read_text("utf-8")
    assert [one.group for one in detector.types.values() if f"| {one.group} |" not in printed] == []


def test_look_alikes_are_treated_as_the_table_says() -> None:
    section = (DOCS / "detection.md").read_text("utf-8").split("## Look-alikes and examples")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| (left|hidden) \| (left|hidden) \|", section, re.MULTILINE)
    assert rows == [(one["what"], one["standard"], one["strict"]) for one in LOOK_ALIKES]


@pytest.mark.parametrize("mode", list(PrivacyMode))
@pytest.mark.parametrize("case", LOOK_ALIKES, ids=lambda case: case["what"])
def test_a_look_alike(detector: Detector, case: dict[str, Any], mode: PrivacyMode) -> None:
    look = seeker(detector, mode)
    for number, pieces in enumerate(case["texts"]):
        hidden = any(one.hidden for one in look.predict("".join(pieces)))
        assert hidden == (case[mode.value] == "hidden"), f"example {number}"
