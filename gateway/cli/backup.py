"""`run_proxy.py backup FILE`: writes one file with what an installation consists of. A gateway may be running."""

import argparse
from pathlib import Path

from gateway.cli.backups.create import back_up
from gateway.cli.console import CommandLine, report
from gateway.cli.progress import progress
from gateway.cli.store_commands import finish_reader
from gateway.config.settings import Settings
from gateway.receipt_log.audit import size_of
from gateway.store import ReadOnlyStore


def add_commands(line: CommandLine) -> None:
    """Registers `backup`."""
    parser = line.commands.add_parser("backup", help="write database, keys and checkpoint to one file")
    parser.add_argument("file", type=Path, metavar="FILE", help="a tar archive, readable by its owner only")
    parser.add_argument("--certs", action="store_true", help="include the proxy's certificate authority")
    parser.add_argument("--replace", action="store_true", help="replace an earlier backup in FILE")
    finish_reader(line, parser, write_backup)


def write_backup(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Returns 0. Raises Conflict, Unavailable, SettingsError, OSError."""
    with progress("Verifying", size_of(store)) as advance:
        manifest = back_up(store, settings, options.file, advance, certs=options.certs, replace=options.replace)
    authority = ", and sign for any host to clients that trust the authority" if options.certs else ""
    names = ", ".join(name.partition("/")[2] for name in manifest.files)
    text = (
        f"Backed up {names} to {options.file}. The receipt log ({manifest.records} records) verifies.\n"
        f"The file holds secrets: its keys sign receipts and derive placeholders{authority}. Keep it closed to others."
    )
    return report(options, {"file": str(options.file), **manifest.model_dump()}, text)
