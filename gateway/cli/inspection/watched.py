"""The process between `inspect` and its program on Linux, which supervises it, and ends with `inspect`."""

import os
import pickle
import signal
import sys

from gateway.programs import NOT_EXECUTABLE
from gateway.programs.kernel import end_with_parent
from gateway.programs.supervision import NotStarted, run


def main(given: int) -> None:
    """Runs the program that is described in a file, and ends as it does."""
    with os.fdopen(given, "rb") as file:
        parent, program, supervise, output = pickle.load(file)  # noqa: S301 - from the parent process  # nosec B301
    # It is not for the program.
    os.set_inheritable(output, False)
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(128 + signal.SIGKILL)
    try:
        sys.exit(run(program, supervise))
    except NotStarted as error:
        # It may be closed.
        if sys.stderr is not None:
            print(error.explained(program.words[0]), file=sys.stderr)
        sys.exit(NOT_EXECUTABLE)
