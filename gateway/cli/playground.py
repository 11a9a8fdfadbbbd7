"""`run_proxy.py playground --output DIR`: writes the playground as a static site, for any web server."""

import argparse
from pathlib import Path

from gateway.api.playground.site import write_site
from gateway.cli.console import CommandLine, print_json
from gateway.config.settings import Settings

_MEGABYTE = 1_000_000


def add_commands(line: CommandLine) -> None:
    """Registers `playground`."""
    parser = line.commands.add_parser("playground", help="write a static site that protects text in the browser")
    parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="a folder, which is made if needed")
    line.finish(parser, _write)


def _write(_: Settings, options: argparse.Namespace) -> int:
    written = write_site(options.output)
    if options.json:
        print_json({"output": str(options.output), "bytes": written})
    else:
        print(f"Wrote {written / _MEGABYTE:.1f} MB to {options.output}. To look at it:")
        print(f"  python3 -m http.server --bind 127.0.0.1 --directory {options.output}")
    return 0
