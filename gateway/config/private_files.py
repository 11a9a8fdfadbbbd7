"""Refuses folders and keys that other users of the machine can open."""

import os
from pathlib import Path

from gateway.config.settings_file import SettingsError


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
