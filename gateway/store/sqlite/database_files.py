"""Watches that the files of an open database stay where they are, and keeps its write-ahead log from being lost.

SQLite goes on writing to files that were deleted, but nothing in them outlives the process. The write-ahead log holds
the newest commits, and is the file that is most easily taken for a temporary one. So it gets a second name, under which
the next start finds it.
"""

import filecmp
import logging
import os
import shutil
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.errors import Unavailable

_log = logging.getLogger(__name__)


def wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def link_of(path: Path) -> Path:
    """The second name of the write-ahead log."""
    return path.with_name(f"{path.name}.wal-link")


class DatabaseFiles:
    """The database, its write-ahead log and the log's index, as the connections of this process have them open."""

    def __init__(self, path: Path) -> None:
        """The database must be open in WAL mode and must have been read from, so that all its files exist."""
        # SQLite follows symbolic links, and keeps the other files beside the target.
        self._path = path.resolve()
        self._files = [self._path, wal_of(self._path), self._path.with_name(f"{path.name}-shm")]
        self._opened = [file.stat() for file in self._files]
        self._links = True
        self._link_wal()

    def check(self) -> None:
        """Raises Unavailable unless every file is the one that was opened, and may be written to."""
        if (fault := self._fault()) is not None:
            raise Unavailable(fault)

    @property
    def in_place(self) -> bool:
        return self._fault() is None

    def unlink_wal(self) -> None:
        """Removes the second name after the last connection was closed, which removes the write-ahead log."""
        if not wal_of(self._path).exists():
            link_of(self._path).unlink(missing_ok=True)

    def _fault(self) -> str | None:
        for file, opened in zip(self._files, self._opened, strict=True):
            try:
                found = file.stat()
            except OSError:
                return f"{file.name} was deleted. Restart the gateway."
            if not os.path.samestat(found, opened):
                return f"{file.name} was replaced. Restart the gateway."
            if not found.st_mode & stat.S_IWUSR:
                return f"{file.name} is read-only. Make it writable again."
            if file is self._files[1] and found.st_nlink < 2:
                self._link_wal()
        return None

    def _link_wal(self) -> None:
        wal, link = wal_of(self._path), link_of(self._path)
        if not self._links or (link.exists() and wal.samefile(link)):
            return
        try:
            link.unlink(missing_ok=True)
            link.hardlink_to(wal)
        except FileExistsError:
            # Another process was faster.
            return
        except OSError as error:
            self._links = False
            _log.warning("%s cannot have a second name, and must not be deleted: %s", wal.name, type(error).__name__)


def restore_wal(path: Path) -> None:
    """Puts the write-ahead log back if it was deleted. Call it before opening the database. Raises OSError.

    SQLite would replay any log, and a log that belongs to another state of the database would damage it. One that does
    not continue the database is set aside.
    """
    path = path.resolve()
    wal, link = wal_of(path), link_of(path)
    if not (path.exists() and link.exists()) or (wal.exists() and wal.samefile(link)):
        return
    if wal.exists() and wal.stat().st_size:
        if filecmp.cmp(wal, link, shallow=False):
            # The folder was copied.
            link.unlink()
            return
    elif not link.stat().st_size or _continues(path, link):
        wal.unlink(missing_ok=True)
        with suppress(FileExistsError):
            wal.hardlink_to(link)
        _log.warning("%s was deleted, and is back: its commits are complete", wal.name)
        return
    aside = link.with_name(f"{link.name}.unused")
    link.replace(aside)
    _log.error("%s does not continue %s, and is kept as %s", link.name, path.name, aside.name)


def _continues(path: Path, link: Path) -> bool:
    """Whether a write-ahead log belongs to the database as it is."""
    if path.stat().st_ctime_ns < link.stat().st_mtime_ns:
        # Nothing happened to the database since the log was last written.
        return True
    # A checkpoint was under way, or someone changed the database afterwards: tries it on a copy.
    with TemporaryDirectory(dir=path.parent) as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        before = _receipts(copy)
        shutil.copyfile(link, wal_of(copy))
        after = _receipts(copy)
        return before is not None and after is not None and (after > before or filecmp.cmp(path, copy, shallow=False))


def _receipts(path: Path) -> int | None:
    """Counts the receipt records of a database; None for one that is damaged."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as conn:
            if conn.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return None
            return int(conn.execute("SELECT coalesce(max(sequence), 0) FROM receipts").fetchone()[0])
    except sqlite3.Error:
        return None
