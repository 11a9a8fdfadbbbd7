"""The command line: `serve` (the default) runs gateway, proxy and mitmweb; the other commands look after them."""

import argparse
import logging
import os
import re
import signal
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from gateway.workers.stop_signals import on_hangup

if Path(sys.argv[0]).stem in {"run_proxy", "privacy-gateway"} and sys.argv[1:2] in ([], ["serve"]):
    # The imports that follow take half a second, in which a reload would end the program.
    on_hangup(lambda number: sys.exit(128 + number))

from gateway import __version__
from gateway.cli.console import CommandLine, Misused, flush_output, print_error, unreadable, unusable, unwritable
from gateway.config.loading import load_settings
from gateway.config.locations import PROGRAM, default_folder
from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError

# argparse repeats the value that it refuses, which may have been meant for another place.
_GIVEN = re.compile(r"(invalid (?:\S+ value|choice)): .*?(?= \(choose from |\Z)", re.DOTALL)
# The modules of all commands but `serve` and `ca`. They load libraries that start threads, which `serve` must not: it
# forks.
_COMMANDS = (
    *("keys", "allow", "deny", "sessions", "policies", "receipts", "usage", "tail", "backup", "restore"),
    *("evaluate", "explain", "env", "exec", "inspect", "playground", "doctor", "healthcheck"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 0 done, 1 failed, 2 misused."""
    if sys.stderr is None:
        # It was closed before the start. Messages must not go to standard output, or to a file that gets its number.
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - until the end
    if isinstance(sys.stdout, TextIOWrapper):
        # Characters that the encoding of a terminal lacks, such as a letter of a label, must not stop a command.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = _run(arguments)
        if sys.stdout is not None:
            flush_output()
    except OSError as error:
        return unwritable(error)
    return status


def _run(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in {"-h", "--help", "--version"}):
        given.insert(0, "serve")
    # Words after `--` are another program's.
    _Parser.as_json = "--json" in given[: given.index("--") if "--" in given else None]
    parser = _parser(given[0])
    options, unknown = parser.parse_known_args(given)
    if unknown:
        hint = f"; the command comes first: {PROGRAM} {unknown[0]} …" if unknown[0] in (*_COMMANDS, "ca") else ""
        # A word may be a value that was meant for standard input.
        shown = (word.partition("=")[0] if word.startswith("--") else "…" for word in unknown)
        parser.error(f"unrecognized arguments: {' '.join(shown)}{hint}")
    as_json = getattr(options, "json", False)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (Misused, GatewayError) as error:
        print_error(error.message, error.code, error.param, as_json=as_json)
        return 2 if isinstance(error, Misused) else 1
    except SettingsError as error:
        return unusable(error, as_json=as_json)
    except OSError as error:
        return unreadable(error, as_json=_Parser.as_json)


class _Parser(argparse.ArgumentParser):
    """Prints errors without the value given, and as JSON where that is asked for. Its subparsers are of this class."""

    as_json = False

    def __init__(self, **options: Any) -> None:
        # `--js` would ask for JSON, and `as_json` would not know.
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        message = _GIVEN.sub(r"\1", message)
        if not self.as_json:
            super().error(message)
        print_error(message, "usage", None, as_json=True)
        sys.exit(2)


def _parser(command: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(prog=PROGRAM, description=__doc__)
    parser.add_argument("--version", action="version", version=f"privacy-gateway {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run gateway, proxy and mitmweb (the default)")
    switch = partial(serve.add_argument, action=argparse.BooleanOptionalAction, default=None)
    switch("--web", help="run mitmweb (default: yes)")
    switch("--proxy", help="run the proxy (default: yes)")
    serve.add_argument("--host", help="address that the gateway listens on (default: 127.0.0.1)")
    serve.add_argument("--proxy-host", metavar="HOST", help="address that the proxy listens on (default: 127.0.0.1)")
    for name in ("gateway", "proxy", "web", "operations"):
        serve.add_argument(f"--{name}-port", type=int, metavar="PORT", help=f"port of the {name} listener; 0: any")
    _add_folders(serve)
    serve.add_argument("--upstream", metavar="URL", help="base URL of the upstream `configured-upstream`")
    serve.add_argument("--upstream-model", metavar="MODEL", help="model asked for as `configured-upstream`")
    serve.add_argument("--upstream-ca", type=Path, metavar="FILE", help="further authority to trust for upstreams")
    repeatable = partial(serve.add_argument, action="append")
    repeatable("--intercept", dest="intercept_also", metavar="HOST", help="decrypt this host too (repeatable)")
    repeatable("--mode", dest="modes", metavar="MODE", help="further mitmproxy mode (repeatable)")
    serve.set_defaults(run=_serve)

    ca = commands.add_parser("ca", help="where the proxy's certificate authority is and how to trust it")
    _add_folders(ca)
    ca.add_argument("--json", action="store_true", help="print JSON")
    ca.set_defaults(run=_ca)

    if command not in {"serve", "ca", "--version"}:
        # The help and an unknown command need all of them.
        for module in (command,) if command in _COMMANDS else _COMMANDS:
            import_module(f"gateway.cli.{module}").add_commands(CommandLine(commands, _add_folders, _settings))
    return parser


def _add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file (TOML)")
    data, certs = default_folder("data"), default_folder("certs")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help=f"database and installation key (default: {data})")
    parser.add_argument("--certs-dir", type=Path, metavar="DIR", help=f"certificate authority (default: {certs})")


def _settings(options: argparse.Namespace) -> Settings:
    given = {name: value for name, value in vars(options).items() if name in Settings.model_fields}
    return load_settings(options.config, **given)


def _serve(options: argparse.Namespace) -> int:
    from addons.logs import set_up_logging, use_log
    from gateway.config.foreign_variables import log_foreign_variables
    from gateway.server.gateway_process import forked
    from gateway.workers.event_loop import run
    from gateway.workers.thread_pool import hanging

    on_hangup(lambda number: sys.exit(128 + number))
    settings = _settings(options)
    set_up_logging(settings.log_level, json_lines=settings.log_json, file=settings.log_file)
    log_foreign_variables()
    # With `log_json`, standard output is the log's alone.
    hints = sys.stderr if settings.log_json else sys.stdout
    print("Starting the Privacy Gateway. Its addresses follow when it is ready.", file=hints, flush=True)
    with forked(settings, use_log) as end:
        # mitmproxy takes a while to load, and neither the other commands nor the gateway's process needs it.
        from addons.server import serve

        status = run(lambda: serve(settings, end, partial(_settings, options)))
    if hanging():
        logging.shutdown()
        sys.stdout.flush()
        os._exit(status)
    return status


def _ca(options: argparse.Namespace) -> int:
    from addons.certificate_authority import describe_authority
    from addons.preflight import authority
    from gateway.cli.console import print_json
    from gateway.config.listener_urls import url_of
    from gateway.config.locations import bundle_of

    settings = _settings(options)
    folder, key = settings.certs_dir, "$KEY" if settings.proxy_key else ""
    proxy = url_of(settings, "proxy", settings.proxy_port or "PORT", key) if settings.proxy else None
    certificate = authority(settings)
    if options.json:
        print_json({"certificate": str(certificate.resolve()), "bundle": str(bundle_of(folder).resolve())})
    else:
        print(describe_authority(folder, proxy))
    return 0


if __name__ == "__main__":
    sys.exit(main())
