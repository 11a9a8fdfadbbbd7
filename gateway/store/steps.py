"""Migrations of any backend: numbered scripts, each of which a database runs once and remembers by its id."""

from collections.abc import Mapping, Set
from pathlib import Path

from gateway.store.errors import StoreError

type Steps = Mapping[str, str]
"""The SQL of each step by its id, in order."""


def read_steps(folder: Path) -> Steps:
    """Reads the files `NNNN_name.sql` of a folder. Raises ValueError if two have the same number."""
    steps = {file.stem: file.read_text("utf-8") for file in sorted(folder.glob("*.sql"))}
    if len({id.partition("_")[0] for id in steps}) < len(steps):
        raise ValueError("two migrations have the same number")
    return steps


def missing_steps(steps: Steps, applied: Set[str] | None, *, is_empty: bool, place: str, remedy: str) -> list[str]:
    """Returns the steps that a database has not seen; `applied` is None for one that remembers none.

    Raises StoreError for a database of another program or of a newer version.
    """
    if is_empty:
        return list(steps)
    if applied is None:
        raise StoreError(f"{place} is not one of this gateway; {remedy}")
    if applied - steps.keys():
        raise StoreError(
            f"{place} was made by a newer version of the gateway, or by one from before the first "
            f"release; install that version, restore a backup that this version made, or {remedy}"
        )
    return [id for id in steps if id not in applied]
