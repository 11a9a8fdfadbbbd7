"""Logs failures that repeat, such as those of a full disk, once, and then their end."""

import logging

_log = logging.getLogger(__name__)


class RepeatedFailures:
    """Logs the first of the failures that follow each other, with its kind, and `again` once there are no more."""

    def __init__(self, message: str, again: str, level: int = logging.ERROR) -> None:
        self._message = message
        self._again = again
        self._level = level
        self._lasts = False

    def add(self, kind: str) -> None:
        """Logs a failure, unless one was logged since the last `end`."""
        if not self._lasts:
            self._lasts = True
            _log.log(self._level, self._message, kind)

    def end(self) -> None:
        """Logs the end of the failures, if there were any."""
        if self._lasts:
            self._lasts = False
            _log.info(self._again)
