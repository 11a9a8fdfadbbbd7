"""`exec` on Linux: the program is supervised, and connections that go past the gateway are reported."""

import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address
from pathlib import Path
from typing import Literal

from gateway.cli.client_variables import Entrance, port_of, reachable_host
from gateway.cli.console import flush_streams
from gateway.cli.listeners import holds_contained
from gateway.config.listener_addresses import is_loopback
from gateway.config.listener_urls import address_of, name_of
from gateway.config.locations import PROGRAM, bundle_of, certificate_of, trust_store_of
from gateway.config.own_files import own_files
from gateway.config.settings import Settings, SettingsError
from gateway.programs import NOT_EXECUTABLE
from gateway.programs.connection_report import ReportingSupervisor
from gateway.programs.containment import VARIABLES, ContainingSupervisor
from gateway.programs.hiding import Hidden
from gateway.programs.supervision import NotStarted, Program, Supervise, run

_NAME = f"{PROGRAM} exec"


_MISSING = "--contain: the program is in a folder that contained programs do not see, such as /tmp"


def run_reported(
    settings: Settings, through: Entrance, path: str, command: Sequence[str], variables: Mapping[str, str]
) -> int:
    """Runs a program and returns its exit status. Connections that go past the gateway are reported."""
    return _run(Program(path, command, variables), ReportingSupervisor(_addresses(settings, through), _NAME))


def run_contained(
    settings: Settings,
    through: Entrance,
    path: str,
    command: Sequence[str],
    variables: Mapping[str, str],
    config: Path | None,
    *,
    reports: bool,
) -> int:
    """Runs a program that reaches nothing but the gateway and cannot change it, and returns its exit status.

    `config` is the settings file that the command line names. If `reports`, connections elsewhere are reported.

    Raises SettingsError if the gateway cannot be reached from its namespaces.
    """
    addresses = loopback_addresses(settings, through)
    for name in _used(through):
        if not holds_contained(settings, name):
            raise SettingsError(
                f"--contain: what listens as the {name} does not hold contained programs to their hosts; restart the"
                " gateway with this version, on this machine and not in a container"
            )
    hidden = hidden_from(settings, config, variables, _NAME)
    supervise = ContainingSupervisor(addresses, hidden, _NAME, reports=reports)
    return _run(contained_program(path, command, variables), supervise)


def contained_program(path: str, command: Sequence[str], variables: Mapping[str, str]) -> Program:
    """Returns a program without the variables that lead outside."""
    return Program(path, command, {name: value for name, value in variables.items() if name not in VARIABLES}, _MISSING)


def hidden_from(
    settings: Settings, config: Path | None, variables: Mapping[str, str], name: str, *more: Path
) -> Hidden:
    """Returns what a contained program does not see, or cannot change, in its working folder. `more` are folders."""
    certificates = (bundle_of, certificate_of, trust_store_of)
    folders: dict[Path, tuple[str, ...]] = {each.resolve(): () for each in (settings.data_dir, *more)}
    folders[settings.certs_dir.resolve()] = tuple(each(settings.certs_dir).name for each in certificates)
    home = Path(variables["HOME"]) if "HOME" in variables else None
    files = [settings.tls_key.resolve()] if settings.tls_key is not None else []
    frozen = own_files(settings, config)
    working = Path.cwd()
    if any(working.is_relative_to(path) for path in frozen):
        note = f"{name}: {working} is the gateway's own, so the program cannot write there; start it in its project"
        print(note, file=sys.stderr)
    return Hidden(folders, files, working, home if home is not None and home.is_dir() else None, frozen)


def loopback_addresses(settings: Settings, through: Entrance) -> list[tuple[str, int]]:
    """Returns the addresses of the listeners that a contained program uses. Raises SettingsError."""
    return [_loopback(settings, name) for name in _used(through)]


def _loopback(settings: Settings, listener: Literal["gateway", "proxy"]) -> tuple[str, int]:
    """Returns the address of a listener, which the contained program's own network has as well."""
    host, port = reachable_host(address_of(settings, listener)), port_of(settings, listener)
    name = name_of(settings, listener, host)
    with suppress(OSError, ValueError):
        found = {str(each[4][0]) for each in socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)}
        if all(IPv4Address(each).is_loopback for each in found) and is_loopback(name):
            return found.pop(), port
    raise SettingsError(
        f"--contain: contained programs reach the {listener} at 127.0.0.1 or localhost alone; have it listen there,"
        " with a certificate for that name if it has one"
    )


def _used(through: Entrance) -> tuple[Literal["gateway", "proxy"], ...]:
    return ("gateway", "proxy") if through == "both" else (through,)


def _addresses(settings: Settings, through: Entrance) -> set[tuple[str, int]]:
    """Returns the addresses of the listeners that the program uses."""
    found = set()
    for name in _used(through):
        host, port = reachable_host(address_of(settings, name)), port_of(settings, name)
        with suppress(OSError):
            found |= {(str(each[4][0]), port) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    return found


def _run(program: Program, supervise: Supervise) -> int:
    flush_streams()
    try:
        return run(program, supervise)
    except NotStarted as error:
        print(error.explained(program.words[0]), file=sys.stderr)
        return NOT_EXECUTABLE
