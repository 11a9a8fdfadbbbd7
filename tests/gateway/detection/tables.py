"""Reads the rows of parametrized tests from tests/vectors/detection/tables/."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "vectors" / "detection" / "tables"


def table(name: str) -> dict[str, Any]:
    """Returns the rows of the tests in `test_NAME.py`, by what each test is called without `test_`."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return content
