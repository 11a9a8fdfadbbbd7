"""`run_proxy.py env [FORM]`: prints the variables that lead a client to the gateway, in the form that it reads."""

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from gateway.cli.client_variables import (
    KEY_VARIABLES,
    Entrance,
    add_options,
    base_of,
    files_of,
    for_this_machine,
    mounted,
    needs_files,
    proxy_for_clients,
    variables,
)
from gateway.cli.console import CommandLine, print_json
from gateway.config.listener_addresses import is_loopback
from gateway.config.listener_urls import address_of, name_of
from gateway.config.locations import COMMAND
from gateway.config.settings import Settings, SettingsError

_FORMS = ("shell", "docker", "node", "python", "curl", "powershell")
_NODE = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_USE_ENV_PROXY", "NODE_EXTRA_CA_CERTS")
_IN_CONTAINER = Path("/etc/privacy-gateway")
_DOCKER_HOST = "host.docker.internal"
# The service of compose.yaml.
_CONTAINER = "gateway"

_EXAMPLES = f"""\
examples:
  eval "$({COMMAND} env)"                                  this shell, through the proxy
  eval "$({COMMAND} env --through gateway)"                this shell, by base URLs
  eval "docker run $({COMMAND} env docker) IMAGE"          a container
  {COMMAND} env curl > proxy.curl; curl -K proxy.curl …    one call of curl
"""


def add_commands(line: CommandLine) -> None:
    """Registers `env`."""
    parser = line.commands.add_parser(
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
    parser.add_argument(
        "--network",
        metavar="NAME",
        help=f"docker: the network in which the gateway runs in a container named `{_CONTAINER}`; its ca-bundle.pem is"
        " taken from the folder where `docker run` is called",
    )
    line.finish(parser, _run)


def _run(settings: Settings, options: argparse.Namespace) -> int:
    if options.key_env and (options.through == "gateway" or not settings.proxy_key):
        print("--key-env: only the URL of a proxy with `proxy_key` contains a key; leave it out", file=sys.stderr)
        return 2
    if options.network and (options.form != "docker" or options.json):
        print("--network: only containers join a network; leave it out", file=sys.stderr)
        return 2
    if options.json:
        print_json(for_this_machine(settings, options.through, options.key_env))
        return 0
    if options.form == "curl":
        lines = _curl(settings, options.through, options.key_env)
    elif options.form == "docker":
        lines = _docker(settings, options.through, options.key_env, options.network)
    else:
        lines = _lines(options.form, for_this_machine(settings, options.through, options.key_env))
    print(*lines, sep="\n")
    if options.through != "proxy":
        # Not on standard output, which a shell may evaluate.
        keys = f"{', '.join(KEY_VARIABLES[:-1])} or {KEY_VARIABLES[-1]}"
        print(f"Set {keys} to a gateway key (`{COMMAND} keys create LABEL`).", file=sys.stderr)
    return 0


def _lines(form: str, given: Mapping[str, str]) -> Iterator[str]:
    """Yields what sets the variables: commands of a shell, or lines for the top of a program in Python."""
    match form:
        case "shell" | "node":
            for name, value in given.items():
                # Node reads its variables before the program starts.
                if form == "shell" or name in _NODE or name.endswith(("_BASE_URL", "_API_BASE")):
                    yield f"export {name}={shlex.quote(value)}"
        case "powershell":
            for name, value in given.items():
                # Windows does not distinguish capitals and small letters in names.
                if name.isupper():
                    quoted = value.replace("'", "''")
                    yield f"$env:{name} = '{quoted}'"
        case _:
            yield from ("import os", "", "os.environ.update(")
            for name, value in given.items():
                if not name.startswith(("NODE_", "CURL_", "JAVA_", "DENO_", "CARGO_", "CODEX_")):
                    yield f"    {name}={json.dumps(value, ensure_ascii=False)},"
            yield ")"


def _curl(settings: Settings, through: Entrance, key_env: str | None) -> Iterator[str]:
    """Yields a configuration file for curl (`curl --config FILE`)."""
    if through != "proxy":
        base = base_of(settings, "gateway")
        raise SettingsError(f"curl reads no base URL: request {base}/v1/… itself, or leave `--through` out")
    bundle = files_of(settings).bundle
    given = {"proxy": proxy_for_clients(settings, key_env), "cacert": bundle}
    if settings.speaks_tls("proxy"):
        given["proxy-cacert"] = bundle
    for name, value in given.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'{name} = "{escaped}"'


def _docker(settings: Settings, through: Entrance, key_env: str | None, network: str | None) -> Iterator[str]:
    """Yields options for `docker run`. A name of Docker's leads to this machine, or to the gateway's container."""
    host: str | None = _CONTAINER if network else _DOCKER_HOST
    entered: tuple[Literal["gateway", "proxy"], ...] = ("gateway", "proxy") if through == "both" else (through,)
    # The certificate may be for another name than Docker's.
    names = dict.fromkeys(name_of(settings, listener, str(host)) for listener in entered)
    if network:
        yield f"--network={shlex.quote(network)}"
    elif not any(is_loopback(address_of(settings, listener)) for listener in entered):
        yield from (f"--add-host={name}:host-gateway" for name in names)
    elif platform.system() == "Linux":
        # Docker's name leads to an address of its bridge, where a listener on loopback is not reached.
        yield "--network=host"
        host = None
    proxy = proxy_for_clients(settings, key_env, host) if through != "gateway" else None
    gateway = base_of(settings, "gateway", host) if through != "proxy" else None
    files = mounted(_IN_CONTAINER) if needs_files(settings, through) else None
    if files:
        bundle = PurePosixPath(files.bundle)
        # The folder of the gateway's container is not one of Docker's machine.
        source = f"./{bundle.name}" if network else files_of(settings).bundle
        yield f"--volume={shlex.quote(source)}:{bundle}:ro"
    for name, value in variables(proxy, gateway, files, names).items():
        yield f"--env={name}={shlex.quote(value)}"
