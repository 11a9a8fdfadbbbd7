"""Steps have an order, and a database of another program or a newer version is refused."""

from pathlib import Path

import pytest

from gateway.store import StoreError
from gateway.store.steps import missing_steps, read_steps

STEPS = {"0001_a": "", "0002_b": ""}


def test_steps_are_read_in_the_order_of_their_numbers_which_are_unique(tmp_path: Path) -> None:
    for name in ("0002_a", "0001_b"):
        (tmp_path / f"{name}.sql").write_text(f"-- {name}", encoding="utf-8")
    assert list(read_steps(tmp_path).items()) == [("0001_b", "-- 0001_b"), ("0002_a", "-- 0002_a")]
    (tmp_path / "0001_other.sql").touch()
    with pytest.raises(ValueError, match="two migrations"):
        read_steps(tmp_path)


@pytest.mark.parametrize(
    ("applied", "is_empty", "missing"),
    [(None, True, ["0001_a", "0002_b"]), ({"0001_a"}, False, ["0002_b"]), (set(STEPS), False, [])],
)
def test_steps_that_a_database_has_not_seen(applied: set[str] | None, is_empty: bool, missing: list[str]) -> None:
    assert missing_steps(STEPS, applied, is_empty=is_empty, place="it", remedy="leave") == missing


@pytest.mark.parametrize(
    ("applied", "message"), [(None, "it is not one of this gateway; leave"), ({"0003_c"}, "it was made by a newer")]
)
def test_a_database_that_is_not_of_this_version_is_refused(applied: set[str] | None, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        missing_steps(STEPS, applied, is_empty=False, place="it", remedy="leave")
