"""`run_proxy.py exec -- PROGRAM …`: runs a program whose model calls go through the gateway.

On Linux, connections that go elsewhere are reported. The program's exit status and all signals are its own.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.cli.client_variables import KEY_VARIABLES, OTHER_KEY_VARIABLES, add_options, base_of, for_this_machine
from gateway.cli.console import CommandLine, flush_streams
from gateway.cli.listeners import Answer, gateway_answers, proxy_answers
from gateway.config.locations import COMMAND
from gateway.config.settings import ENVIRONMENT_ONLY, PREFIX, Settings
from gateway.programs import NOT_EXECUTABLE, NOT_FOUND


def add_commands(line: CommandLine) -> None:
    """Registers `exec`."""
    parser = line.commands.add_parser(
        "exec",
        help="run a program whose model calls go through the gateway",
        usage="%(prog)s [options] -- PROGRAM [ARGUMENT …]",
    )
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="after `--`: the program and its arguments")
    add_options(parser)
    parser.add_argument(
        "--key-env",
        metavar="VARIABLE",
        help="variable that holds a gateway key: for the URL of a proxy that asks for one (`proxy_key`), and for base"
        f" URLs as {', '.join(KEY_VARIABLES)}",
    )
    parser.add_argument(
        "--contain",
        action="store_true",
        help="run the program so that it reaches only the gateway, which tunnels to `contained_hosts` alone (Linux)",
    )
    parser.add_argument(
        "--no-report",
        action="store_true",
        help="do not report connections that go past the gateway, or that `--contain` blocks (Linux); without it, the"
        " program may gain privileges then, as with `sudo`",
    )
    line.finish(parser, _run, json=False)


def _run(settings: Settings, options: argparse.Namespace) -> int:
    if problem := cannot_contain(options):
        return failed(problem, 2)
    if options.key_env and options.through == "proxy" and not settings.proxy_key:
        return failed("--key-env: the proxy needs the provider's key, not the gateway's; add `--through gateway`", 2)
    if options.key_env and not os.environ.get(options.key_env):
        return failed(f"--key-env: the variable {options.key_env} is not set", 2)
    for problem in _silent(settings, options.through):
        return failed(problem, 1)
    given = for_this_machine(settings, options.through, options.key_env)
    # Looked for before the environment changes, and by the same rules on every system.
    path = path_of(options.program)
    if isinstance(path, int):
        return path
    key_env = options.key_env if options.through != "proxy" else None
    variables = environment(os.environ, given, key_env)
    if platform.system() == "Linux" and (options.contain or not options.no_report):
        from gateway.cli.supervised_exec import run_contained, run_reported

        if options.contain:
            reports = not options.no_report
            return run_contained(
                settings, options.through, path, options.program, variables, options.config, reports=reports
            )
        return run_reported(settings, options.through, path, options.program, variables)
    return _become(path, options.program, variables)


def cannot_contain(options: argparse.Namespace) -> str | None:
    """Returns why programs cannot be contained here, if that is asked for."""
    if not options.contain or platform.system() == "Linux":
        return None
    return "--contain: only Linux has the namespaces that it needs; run the program in a Linux machine"


def environment(inherited: Mapping[str, str], given: Mapping[str, str], key_env: str | None) -> dict[str, str]:
    """Returns the program's environment: what it would have had, without the gateway's secrets, and `given`."""
    secrets = {PREFIX + name.upper() for name in ENVIRONMENT_ONLY}
    found = {name: value for name, value in inherited.items() if name not in secrets} | dict(given)
    if key_env:
        found |= dict.fromkeys(KEY_VARIABLES, inherited[key_env])
        for name in OTHER_KEY_VARIABLES:
            found.pop(name, None)
    return found


def _silent(settings: Settings, through: str) -> list[str]:
    """Returns a message for each listener that the program would need in vain."""
    asked = []
    if through != "gateway":
        asked.append((base_of(settings, "proxy"), proxy_answers(settings)))
    if through != "proxy":
        asked.append((base_of(settings, "gateway"), gateway_answers(settings)))
    advice = {
        Answer.NOTHING: f"the gateway does not listen there; start it with `{COMMAND} serve`, or name its port",
        Answer.UNTRUSTED: "the certificate of the program there is expired or not the one in `tls_certificate`; if you"
        " replaced the file, have the gateway load it",
        Answer.OTHERS: "another program listens there; name the gateway's port with `--proxy-port` or `--gateway-port`",
    }
    return [f"{url}: {advice[answer]}" for url, answer in asked if answer in advice]


def _become(path: str, command: Sequence[str], variables: Mapping[str, str]) -> int:
    flush_streams()
    try:
        if os.name == "posix":
            os.execve(path, list(command), dict(variables))  # noqa: S606
        return subprocess.run([path, *command[1:]], env=dict(variables), check=False).returncode  # noqa: S603
    except OSError as error:
        return failed(f"{command[0]}: {error.strerror}", NOT_EXECUTABLE)


def path_of(command: Sequence[str]) -> str | int:
    """Returns where a program is. If it cannot be run, says so and returns the exit status, as shells have it."""
    name = command[0]
    if path := shutil.which(name):
        return path
    if shutil.which(name, os.F_OK) or (os.sep in name and Path(name).is_dir()):
        return failed(f"{name}: it is not an executable file", NOT_EXECUTABLE)
    return failed(f"{name}: there is no such program", NOT_FOUND)


def failed(message: str, status: int) -> int:
    """Prints a message for the user, and returns the exit status."""
    print(message, file=sys.stderr)
    return status
