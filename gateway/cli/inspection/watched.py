"""The process between `inspect` and its program on Linux, which reports connections past the gateway to a pipe."""

import os
import pickle
import sys

from gateway.programs import NOT_EXECUTABLE
from gateway.programs.connection_report import ReportingSupervisor
from gateway.programs.supervision import NotStarted, Program, run

NAME = "inspect"


def main(given: int) -> None:
    """Runs the program that is described in a file, and ends as it does."""
    with os.fdopen(given, "rb") as file:
        path, words, variables, output = pickle.load(file)  # noqa: S301 - from the parent process  # nosec B301
    # It is not for the program.
    os.set_inheritable(output, False)
    try:
        # The gateway listens on loopback, which is never reported.
        sys.exit(run(Program(path, words, variables), ReportingSupervisor((), NAME, output)))
    except NotStarted as error:
        print(error.explained(words[0]), file=sys.stderr)
        sys.exit(NOT_EXECUTABLE)
