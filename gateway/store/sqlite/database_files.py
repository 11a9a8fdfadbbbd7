"""Checks that the files of an open database are still in their places.

SQLite continues to write to a file that was deleted or replaced, but nothing in it outlives the process.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from gateway.errors import Unavailable


class DatabaseFiles:
    """The database, its write-ahead log and the log's index, as the connections of this process have them open."""

    def __init__(self, path: Path) -> None:
        """The database must be open in WAL mode and must have been read from, so that all its files exist."""
        self._opened = [(file, file.stat()) for file in (path.resolve(), *_log_and_index(path))]

    def check(self) -> None:
        """Raises Unavailable unless every file is the one that was opened."""
        for file, change in self._changes():
            raise Unavailable(f"{file.name} was {change}. Restart the gateway.")

    def have_a_new_log(self) -> bool:
        """Whether another process has begun a write-ahead log, or its index, in place of one that was deleted."""
        database, _ = self._opened[0]
        return any(change == "replaced" and file != database for file, change in self._changes())

    def _changes(self) -> Iterator[tuple[Path, str]]:
        for file, opened in self._opened:
            try:
                found = file.stat()
            except OSError:
                yield file, "deleted"
                continue
            if not os.path.samestat(found, opened):
                yield file, "replaced"


def log_was_deleted(path: Path) -> bool:
    """Whether the log is missing after a crash: SQLite itself deletes the index first."""
    log, index = _log_and_index(path)
    return index.exists() and not log.exists()


def _log_and_index(path: Path) -> tuple[Path, Path]:
    # SQLite follows symbolic links, and keeps the other files beside the target.
    path = path.resolve()
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
