"""Reads the rows of parametrized tests."""

import json
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent


def table(file: str) -> dict[str, Any]:
    """Returns the rows of a module's tests, by what each test is called without `test_`.

    Those of `tests/gateway/AREA/…/test_NAME.py` are in `tests/vectors/AREA/tables/NAME.json`.
    """
    module = Path(file).relative_to(TESTS / "gateway")
    rows = TESTS / "vectors" / module.parts[0] / "tables" / f"{module.stem.removeprefix('test_')}.json"
    content: dict[str, Any] = json.loads(rows.read_text("utf-8"))
    return content
