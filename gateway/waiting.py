"""A thread that only waits says so, and whoever gives it its work can have another one work meanwhile."""

from collections.abc import Callable
from threading import local


class _Here(local):
    told: Callable[[], None] | None = None


_here = _Here()


def tell(whom: Callable[[], None] | None) -> None:
    """From now on, `whom` hears of the long waits of this thread."""
    _here.told = whom


def waits_long() -> None:
    """Call it before a wait that takes longer than the work around it."""
    if _here.told is not None:
        _here.told()
