"""Logs failures that repeat, such as those of a full disk, without filling the log with them."""

import logging
from time import monotonic

_log = logging.getLogger(__name__)

_REPEATED_SECONDS = 60.0


class WriteFailures:
    """Logs the first failure of each kind, and then one a minute while they last. `message` takes the kind."""

    def __init__(self, message: str, level: int = logging.ERROR) -> None:
        self._message = message
        self._level = level
        self._kinds: set[str] = set()
        self._logged = float("-inf")

    def add(self, kind: str) -> None:
        """Logs a failure, unless one of its kind was logged and the last line is less than a minute old."""
        now = monotonic()
        if kind not in self._kinds or now - self._logged >= _REPEATED_SECONDS:
            _log.log(self._level, self._message, kind)
            self._kinds.add(kind)
            self._logged = now

    def end(self) -> bool:
        """Forgets the failures. Returns whether there were any."""
        lasted = bool(self._kinds)
        self._kinds.clear()
        return lasted
