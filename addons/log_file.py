"""The log as a file that can be rotated while several processes write to it."""

import os
from contextlib import suppress
from io import TextIOWrapper
from logging import Handler, LogRecord
from logging.handlers import WatchedFileHandler
from pathlib import Path


class LogFile(WatchedFileHandler):
    """Appends to a file that only its owner can read. Each process opens it anew before a line if it was moved.

    A line that cannot be written to the file, such as on a full disk, goes to the handler `instead`.
    """

    def __init__(self, path: Path, instead: Handler) -> None:
        self._instead = instead
        super().__init__(path, encoding="utf-8", errors="backslashreplace")

    def reopen(self) -> None:
        """Opens the file anew if it was moved."""
        self.acquire()
        try:
            with suppress(OSError):  # the next line tries again
                self.reopenIfNeeded()
        finally:
            self.release()

    def emit(self, record: LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def handleError(self, record: LogRecord) -> None:  # noqa: N802 - logging calls it so
        self._instead.handle(record)

    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(file, "a", encoding=self.encoding, errors=self.errors)
