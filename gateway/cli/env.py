"""`run_proxy.py env [FORM]`: prints the variables that lead a client to the gateway, in the form that it reads."""

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from gateway.cli.client_variables import (
    KEY_VARIABLES,
    Entrance,
    add_options,
    base_of,
    files_of,
    for_this_machine,
    mounted,
    variables,
)
from gateway.cli.console import AddFolders, Loader, Subparsers, print_json
from gateway.config.exposure import is_loopback
from gateway.config.locations import COMMAND
from gateway.config.settings import Settings, SettingsError

_FORMS = ("shell", "docker", "node", "python", "curl", "powershell")
_NODE = ("HTTPS_PROXY", "NO_PROXY", "NODE_USE_ENV_PROXY", "NODE_EXTRA_CA_CERTS")
_IN_CONTAINER = Path("/etc/privacy-gateway")
_DOCKER_HOST = "host.docker.internal"

_EXAMPLES = f"""\
examples:
  eval "$({COMMAND} env)"                                  this shell, through the proxy
  eval "$({COMMAND} env --through gateway)"                this shell, by base URLs
  eval "docker run $({COMMAND} env docker) IMAGE"          a container
  {COMMAND} env curl > proxy.curl; curl -K proxy.curl …    one call of curl
"""


def add_commands(commands: Subparsers, add_folders: AddFolders, load: Loader) -> None:
    """Registers `env`."""
    parser = commands.add_parser(
        "env",
        help="print the variables that lead a client to the gateway",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("form", nargs="?", choices=_FORMS, default="shell", help="default: shell")
    add_options(parser)
    add_folders(parser)
    parser.add_argument("--json", action="store_true", help="print the variables as JSON")
    parser.set_defaults(run=lambda options: _run(load(options), options))


def _run(settings: Settings, options: argparse.Namespace) -> int:
    if options.json:
        print_json(for_this_machine(settings, options.through))
        return 0
    lines = _printers()[options.form](settings, options.through)
    print(*lines, sep="\n")
    if options.through != "proxy":
        # Not on standard output, which a shell may evaluate.
        keys = f"{', '.join(KEY_VARIABLES[:-1])} or {KEY_VARIABLES[-1]}"
        print(f"Set {keys} to a gateway key (`{COMMAND} keys create LABEL`).", file=sys.stderr)
    return 0


def _printers() -> Mapping[str, Callable[[Settings, Entrance], Iterator[str]]]:
    return {
        "shell": _shell,
        "docker": _docker,
        "node": _node,
        "python": _python,
        "curl": _curl,
        "powershell": _powershell,
    }


def _shell(settings: Settings, through: Entrance) -> Iterator[str]:
    for name, value in for_this_machine(settings, through).items():
        yield f"export {name}={shlex.quote(value)}"


def _node(settings: Settings, through: Entrance) -> Iterator[str]:
    """Yields lines for the shell: Node reads its variables before the program starts."""
    for name, value in for_this_machine(settings, through).items():
        if name in _NODE or name.endswith(("_BASE_URL", "_API_BASE")):
            yield f"export {name}={shlex.quote(value)}"


def _powershell(settings: Settings, through: Entrance) -> Iterator[str]:
    for name, value in for_this_machine(settings, through).items():
        # Windows does not tell capitals from small letters in names.
        if name.isupper():
            quoted = value.replace("'", "''")
            yield f"$env:{name} = '{quoted}'"


def _python(settings: Settings, through: Entrance) -> Iterator[str]:
    """Yields lines for the top of a program or notebook, above its imports."""
    found = {k: v for k, v in for_this_machine(settings, through).items() if not k.startswith(("NODE_", "CURL_"))}
    yield "import os"
    yield ""
    yield "os.environ.update("
    for name, value in found.items():
        yield f"    {name}={json.dumps(value, ensure_ascii=False)},"
    yield ")"


def _curl(settings: Settings, through: Entrance) -> Iterator[str]:
    """Yields a configuration file for curl (`curl --config FILE`)."""
    if through != "proxy":
        base = base_of(settings, "gateway")
        raise SettingsError(f"curl reads no base URL: request {base}/v1/… itself, or leave `--through` out")
    for name, value in (("proxy", base_of(settings, "proxy")), ("cacert", files_of(settings).bundle)):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'{name} = "{escaped}"'


def _docker(settings: Settings, through: Entrance) -> Iterator[str]:
    """Yields options for `docker run`. A container reaches this machine by a name of Docker's."""
    host = _DOCKER_HOST
    if not is_loopback(settings.host):
        yield f"--add-host={_DOCKER_HOST}:host-gateway"
    elif platform.system() == "Linux":
        # Docker's name leads to an address of its bridge, where nothing listens.
        yield "--network=host"
        host = "127.0.0.1"
    proxy = base_of(settings, "proxy", host) if through != "gateway" else None
    gateway = base_of(settings, "gateway", host) if through != "proxy" else None
    if proxy:
        bundle = PurePosixPath(mounted(_IN_CONTAINER).bundle)
        yield f"--volume={shlex.quote(files_of(settings).bundle)}:{bundle}:ro"
    for name, value in variables(proxy, gateway, mounted(_IN_CONTAINER), (_DOCKER_HOST,)).items():
        yield f"--env={name}={shlex.quote(value)}"
