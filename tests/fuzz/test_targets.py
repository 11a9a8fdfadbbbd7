"""A few cases of each target, always the same; `python -m tests.fuzz` tries others."""

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS, Target, run_case


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_met_with_anything_but_an_error_that_says_nothing(name: str, tmp_path: Path) -> None:
    target: Target = TARGETS[name]
    with target.open(tmp_path) as check:
        for number in range(target.cases):
            run_case(check, name, "make test", number, 4000)
