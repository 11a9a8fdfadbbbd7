"""What a thread and whoever gives it its work tell each other: that it only waits, and that nobody waits for it."""

from threading import local
from typing import Protocol


class Giver(Protocol):
    """Who gave a thread its work."""

    def waits_long(self) -> None: ...

    @property
    def wanted(self) -> bool: ...


class _Here(local):
    giver: Giver | None = None


_here = _Here()


def work_for(giver: Giver | None) -> None:
    """From now on, this thread works for `giver`, or for nobody."""
    _here.giver = giver


def waits_long() -> None:
    """Call it before a wait that takes longer than the work around it: another thread can work meanwhile."""
    if _here.giver is not None:
        _here.giver.waits_long()


def given_up() -> bool:
    """Whether nobody waits any more for what this thread does; ask it now and then in long work."""
    return _here.giver is not None and not _here.giver.wanted
