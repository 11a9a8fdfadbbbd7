"""Counts what a piece of work does, in place of the time that it takes."""

import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many Python and C functions are entered and left: what a quadratic path multiplies."""
    count = 0

    def trace(_frame: object, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
