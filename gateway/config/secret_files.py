"""Hands secrets to the operator in files, where standard output is no terminal and so ends up in a log."""

import sys
from pathlib import Path

from gateway.config.durable_files import replacing
from gateway.config.settings_file import SettingsError


def on_terminal() -> bool:
    """Tells whether standard output is a terminal, on which a secret may be shown."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_secret(path: Path, secret: str) -> None:
    """Writes a file in the data folder that only its owner can ever read. Raises SettingsError."""
    try:
        with replacing(path) as draft:
            draft.write(f"{secret}\n".encode())
    except OSError as error:
        raise SettingsError(
            f"data_dir: {path} cannot be written ({error.strerror}); remove the cause, or name another folder with"
            " `--data-dir DIR`"
        ) from None
