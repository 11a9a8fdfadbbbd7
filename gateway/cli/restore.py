"""`run_proxy.py restore FILE`: puts a backup into the folders of a gateway that does not run."""

import argparse
from pathlib import Path

from gateway.cli.backups.restore import restore
from gateway.cli.console import CommandLine, report
from gateway.cli.progress import progress
from gateway.config.settings import Settings


def add_commands(line: CommandLine) -> None:
    """Registers `restore`."""
    parser = line.commands.add_parser("restore", help="verify a file of `backup`, and put it into the data folder")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--replace", action="store_true", help="move aside what the folders hold already")
    line.finish(parser, restore_backup)


def restore_backup(settings: Settings, options: argparse.Namespace) -> int:
    """Returns 0. Raises BadRequest, Conflict, Unavailable, SettingsError, OSError."""
    with progress("Verifying", 0) as advance:
        manifest, aside = restore(options.file, settings, advance, replace=options.replace)
    names = ", ".join(name.partition("/")[2] for name in manifest.files)
    certs = f" and {settings.certs_dir}" if any(name.startswith("certs/") for name in manifest.files) else ""
    text = (
        f"Restored {names} to {settings.data_dir}{certs}.\n"
        f"The backup is of {manifest.created_at}, made by version {manifest.gateway}. Its receipt log "
        f"({manifest.records} records) verifies. What was recorded since then is not in it."
    )
    if aside is not None:
        text += f"\nThe files that were there are in {aside}."
    done = {"data_dir": str(settings.data_dir), "replaced": str(aside) if aside else None, **manifest.model_dump()}
    return report(options, done, text)
