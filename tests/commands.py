"""Runs commands as users do."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def output_of(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> str:
    """Returns what a command prints. It has to succeed."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
