"""Runs a program under the reporting supervisor, in a process of its own."""

import subprocess
import sys
from typing import Any

_CODE = """
import os, shutil, sys
from gateway.programs.connection_report import ReportingSupervisor
from gateway.programs.supervision import NotStarted, Program, run
words = sys.argv[1:]
program = Program(shutil.which(words[0]) or words[0], words, os.environ)
try:
    sys.exit(run(program, ReportingSupervisor([("192.0.2.7", 80)], "exec")))
except NotStarted as error:
    sys.exit(f"not started: {error.number}")
"""


def supervised(*words: str) -> list[str]:
    """The command that runs these words."""
    return [sys.executable, "-c", _CODE, *words]


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def ran(*words: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    # In the group of the tests, a program that is stopped could have the kernel hang up on all of them.
    options.setdefault("start_new_session", True)
    return subprocess.run(supervised(*words), capture_output=True, text=True, check=False, timeout=60, **options)
