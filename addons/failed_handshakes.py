"""Counts failed TLS handshakes of clients by listener and cause. With a line for each, clients could fill the log."""

import asyncio
import logging

from mitmproxy import tls

from addons.flow_state import listener_of
from addons.logs import RareWarnings, known_words

_SECONDS = 60.0
_HANDSHAKE = "Client TLS handshake failed. "
# As in `logs.toml`.
_AFTER = "a TLS connection was ended"
# Such as a test of whether the port is open; mitmproxy does not warn of it.
_QUIET = ("connection closed", "The client disconnected")


class FailedHandshakes:
    """The addon."""

    def __init__(self) -> None:
        self._warnings = RareWarnings(_SECONDS)
        self._timer: asyncio.TimerHandle | None = None
        self._logger = logging.getLogger("mitmproxy.proxy.server")

    def running(self) -> None:
        self._logger.addFilter(self._is_worth_a_line)

    def done(self) -> None:
        self._logger.removeFilter(self._is_worth_a_line)
        if self._timer is not None:
            self._timer.cancel()
        self._warnings.flush(at_once=True)

    def tls_failed_client(self, data: tls.TlsData) -> None:
        error = data.conn.error or ""
        words = known_words(_HANDSHAKE + error)
        if words and not error.startswith(_QUIET):
            self._count(f"{listener_of(data.context.client).value}: {words}")

    def _is_worth_a_line(self, record: logging.LogRecord) -> bool:
        words = str(record.msg)
        if words.startswith(_AFTER):
            self._count(words)
        return not words.startswith((_AFTER, _HANDSHAKE))

    def _count(self, words: str) -> None:
        self._warnings.count(words)
        if self._timer is None:
            self._flush()

    def _flush(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_SECONDS, self._flush)
        self._warnings.flush()
