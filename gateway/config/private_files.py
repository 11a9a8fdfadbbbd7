"""Refuses folders and keys that other users of the machine can open."""

import os
from pathlib import Path

from gateway.config.settings_file import SettingsError

_OTHERS = 0o077


def check_private(folder: Path) -> None:
    """Raises SettingsError, which says how to close them, if others can open the folder or a key in it."""
    if os.name != "posix":
        return
    open_to_others = [path for path in (folder, *sorted(folder.glob("*.key"))) if path.stat().st_mode & _OTHERS]
    if open_to_others:
        raise SettingsError(
            *(
                f"data_dir: other users can open {path}; run `chmod {700 if path == folder else 600} {path}`"
                for path in open_to_others
            )
        )
