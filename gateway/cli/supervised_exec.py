"""`exec` on Linux: the program is supervised, and connections that go past the gateway are reported."""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

from gateway.cli.client_variables import Entrance, port_of, reachable_host
from gateway.config.listener_urls import address_of
from gateway.config.locations import PROGRAM
from gateway.config.settings import Settings
from gateway.programs.connection_report import ReportingSupervisor
from gateway.programs.supervision import NotStarted, Program, Supervise, run

# As shells use it.
NOT_EXECUTABLE = 126

_NAME = f"{PROGRAM} exec"


def run_reported(
    settings: Settings, through: Entrance, path: str, command: Sequence[str], variables: Mapping[str, str]
) -> int:
    """Runs a program and returns its exit status. Connections that go past the gateway are reported."""
    return _run(Program(path, command, variables), ReportingSupervisor(_addresses(settings, through), _NAME))


def _addresses(settings: Settings, through: Entrance) -> set[tuple[str, int]]:
    """Returns the addresses of the listeners that the program uses."""
    used: list[Literal["gateway", "proxy"]] = [name for name in ("gateway", "proxy") if through in (name, "both")]
    found = set()
    for name in used:
        host, port = reachable_host(address_of(settings, name)), port_of(settings, name)
        with suppress(OSError):
            found |= {(str(each[4][0]), port) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    return found


def _run(program: Program, supervise: Supervise) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        return run(program, supervise)
    except NotStarted as error:
        print(error.message or f"{program.words[0]}: {os.strerror(error.number)}", file=sys.stderr)
        return NOT_EXECUTABLE
