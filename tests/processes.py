"""Tells whether processes have ended, including those whose status has not been collected, or are stopped."""

import subprocess
import time
from collections.abc import Callable


def _state(process: int) -> str:
    ask = ["ps", "-o", "state=", "-p", str(process)]
    return subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()[:1]


def is_gone(process: int) -> bool:
    """Whether a process has ended."""
    return _state(process) in ("", "Z")


def gone(process: int) -> bool:
    """Whether a process ends in time."""
    return _comes_true(lambda: is_gone(process))


def stopped(process: int) -> bool:
    """Whether a process stops in time, as its threads do only after SIGSTOP has been sent; or is gone."""
    return _comes_true(lambda: _state(process) in ("T", "Z", ""))


def _comes_true(found: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not found():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
