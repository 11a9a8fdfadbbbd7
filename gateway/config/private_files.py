"""Keeps folders, keys and secrets in files closed to other users of the machine."""

import os
import sys
from pathlib import Path

from gateway.config.durable_files import replacing
from gateway.config.settings_file import SettingsError

if sys.platform != "win32":
    from pwd import getpwuid


def is_open_to_others(path: Path) -> bool:
    """Tells whether other users have any right to a file or folder."""
    return os.name == "posix" and path.stat().st_mode & 0o077 != 0


def check_private(folder: Path) -> None:
    """Raises SettingsError, which says how to close them, if others can open the folder or a key in it."""
    problems = [
        f"data_dir: other users can open {path}; run `chmod {700 if path == folder else 600} {path}`"
        for path in (folder, *sorted(folder.glob("*.key")))
        if is_open_to_others(path)
    ]
    if problems:
        raise SettingsError(*problems)


def check_account(folder: Path) -> None:
    """Raises SettingsError for root in another account's folder, which could not read the files that root leaves there.

    SQLite gives its own files to that account, so this is for commands that write others. For a folder that does not
    exist yet, that above it counts.
    """
    if sys.platform != "win32" and os.geteuid() == 0:
        owner = next(each for each in (folder, *folder.absolute().parents) if each.exists()).stat().st_uid
        if owner != 0:
            account = _name_of(owner)
            raise SettingsError(
                f"data_dir: {folder} is of the account {account}, which could not read files that root writes there;"
                f" run the command as that account: `sudo -u {account} …`"
            )


def _name_of(owner: int) -> str:
    try:
        return getpwuid(owner).pw_name
    except KeyError:
        return f"'#{owner}'"


def on_terminal() -> bool:
    """Tells whether standard output is a terminal, on which a secret may be shown: otherwise, it ends up in a log."""
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
