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
    proxy_for_clients,
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
    parser.add_argument(
        "--key-env",
        metavar="VARIABLE",
        help="variable that holds a gateway key, if the proxy asks for one (`proxy_key`); the output contains the key",
    )
    add_folders(parser)
    parser.add_argument("--json", action="store_true", help="print the variables as JSON")
    parser.set_defaults(run=lambda options: _run(load(options), options))


def _run(settings: Settings, options: argparse.Namespace) -> int:
    if options.key_env and (options.through == "gateway" or not settings.proxy_key):
        print("--key-env: only the URL of a proxy with `proxy_key` contains a key; leave it out", file=sys.stderr)
        return 2
    if options.json:
        print_json(for_this_machine(settings, options.through, options.key_env))
        return 0
    lines = _printers()[options.form](settings, options.through, options.key_env)
    print(*lines, sep="\n")
    if options.through != "proxy":
        # Not on standard output, which a shell may evaluate.
        keys = f"{', '.join(KEY_VARIABLES[:-1])} or {KEY_VARIABLES[-1]}"
        print(f"Set {keys} to a gateway key (`{COMMAND} keys create LABEL`).", file=sys.stderr)
    return 0


def _printers() -> Mapping[str, Callable[[Settings, Entrance, str | None], Iterator[str]]]:
    return {
        "shell": _shell,
        "docker": _docker,
        "node": _node,
        "python": _python,
        "curl": _curl,
        "powershell": _powershell,
    }


def _shell(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    for name, value in for_this_machine(settings, through, key_env).items():
        yield f"export {name}={shlex.quote(value)}"


def _node(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    """Yields lines for the shell: Node reads its variables before the program starts."""
    for name, value in for_this_machine(settings, through, key_env).items():
        if name in _NODE or name.endswith(("_BASE_URL", "_API_BASE")):
            yield f"export {name}={shlex.quote(value)}"


def _powershell(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    for name, value in for_this_machine(settings, through, key_env).items():
        # Windows does not tell capitals from small letters in names.
        if name.isupper():
            quoted = value.replace("'", "''")
            yield f"$env:{name} = '{quoted}'"


def _python(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    """Yields lines for the top of a program or notebook, above its imports."""
    given = for_this_machine(settings, through, key_env)
    found = {name: value for name, value in given.items() if not name.startswith(("NODE_", "CURL_"))}
    yield "import os"
    yield ""
    yield "os.environ.update("
    for name, value in found.items():
        yield f"    {name}={json.dumps(value, ensure_ascii=False)},"
    yield ")"


def _curl(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    """Yields a configuration file for curl (`curl --config FILE`)."""
    if through != "proxy":
        base = base_of(settings, "gateway")
        raise SettingsError(f"curl reads no base URL: request {base}/v1/… itself, or leave `--through` out")
    for name, value in (("proxy", proxy_for_clients(settings, key_env)), ("cacert", files_of(settings).bundle)):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'{name} = "{escaped}"'


def _docker(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    """Yields options for `docker run`. A container reaches this machine by a name of Docker's."""
    host: str | None = _DOCKER_HOST
    used = [settings.proxy_host] if through != "gateway" else []
    used += [settings.host] if through != "proxy" else []
    if not any(map(is_loopback, used)):
        yield f"--add-host={_DOCKER_HOST}:host-gateway"
    elif platform.system() == "Linux":
        # Docker's name leads to an address of its bridge, where a listener on loopback is not reached.
        yield "--network=host"
        host = None
    proxy = proxy_for_clients(settings, key_env, host) if through != "gateway" else None
    gateway = base_of(settings, "gateway", host) if through != "proxy" else None
    if proxy:
        bundle = PurePosixPath(mounted(_IN_CONTAINER).bundle)
        yield f"--volume={shlex.quote(files_of(settings).bundle)}:{bundle}:ro"
    for name, value in variables(proxy, gateway, mounted(_IN_CONTAINER), (_DOCKER_HOST,)).items():
        yield f"--env={name}={shlex.quote(value)}"
