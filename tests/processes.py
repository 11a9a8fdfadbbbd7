"""Tells whether processes have ended, including those whose status has not been collected."""

import subprocess
import time


def is_gone(process: int) -> bool:
    """Whether a process has ended."""
    ask = ["ps", "-o", "state=", "-p", str(process)]
    state = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    return not state or state.startswith("Z")


def gone(process: int, seconds: float = 60) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while not is_gone(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
