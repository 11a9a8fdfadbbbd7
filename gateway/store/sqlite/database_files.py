"""Checks that the files of an open database are still in their places.

SQLite continues to write to a file that was deleted or replaced, but nothing in it outlives the process.
"""

import os
from pathlib import Path

from gateway.errors import Unavailable


class DatabaseFiles:
    """The database, its write-ahead log and the log's index, as the connections of this process have them open."""

    def __init__(self, path: Path) -> None:
        """The database must be open in WAL mode and must have been read from, so that all its files exist."""
        # SQLite follows symbolic links, and keeps the other files beside the target.
        path = path.resolve()
        files = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
        self._opened = [(file, file.stat()) for file in files]

    def check(self) -> None:
        """Raises Unavailable unless every file is the one that was opened."""
        for file, opened in self._opened:
            try:
                found = file.stat()
            except OSError:
                raise Unavailable(f"{file.name} was deleted. Restart the gateway.") from None
            if not os.path.samestat(found, opened):
                raise Unavailable(f"{file.name} was replaced. Restart the gateway.")
