"""What is logged, and that nothing private is.

mitmproxy's own messages can quote what a client sent (a broken request head, an exception's text). They are replaced
where they come into being, because mitmweb's event log and the terminal both listen at the root.
"""

import logging
import re
import sys
from time import monotonic
from typing import Any

import orjson

# These speak of listeners, certificates and the start, never of traffic.
_PLAIN_SPEAKERS = (
    "mitmproxy.addons.proxyserver",
    "mitmproxy.proxy.mode_servers",
    "mitmproxy.tools.web.master",
    "mitmproxy.addons.errorcheck",
)
_RARE_SECONDS = 10.0
# What a client sends in place of a ClientHello is quoted behind this beginning, at full length.
_NO_CLIENT_HELLO = "Client TLS handshake failed. Cannot parse ClientHello"
_PLAIN_MESSAGES = re.compile(r"Client TLS handshake failed\. The client (?:does not trust|may not trust|disconnected)")


class _Record(logging.LogRecord):
    """A record that speaks for mitmproxy without quoting it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        foreign = self.name.startswith(("mitmproxy", "tornado", "asyncio", "uvicorn", "httpx", "httpcore", "hpack"))
        if foreign and not self.name.startswith(_PLAIN_SPEAKERS) and not self._plain():
            known = isinstance(self.msg, str) and self.msg.startswith(_NO_CLIENT_HELLO)
            kind = f" ({self.exc_info[0].__name__})" if self.exc_info and self.exc_info[0] else ""
            self.msg = (
                _NO_CLIENT_HELLO if known else f"{self.name} reports a problem at {self.filename}:{self.lineno}{kind}"
            )
            self.args = ()
        if self.exc_info and self.exc_info[0]:
            # A traceback ends with the exception's text, which may be the text it failed on.
            self.exc_info = None
        self.exc_text = None

    def _plain(self) -> bool:
        return isinstance(self.msg, str) and _PLAIN_MESSAGES.match(self.msg) is not None


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        return orjson.dumps(line).decode()


def set_up_logging(level: str, *, json_lines: bool) -> None:
    """Logs to standard error from `level` on; mitmproxy's own chatter about connections stays out."""
    logging.setLogRecordFactory(_Record)
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_JsonLines() if json_lines else plain)
    handler.setLevel(level.upper())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
    for noisy in ("mitmproxy", "tornado", "asyncio", "uvicorn", "httpx", "httpcore", "hpack", "quic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for access in ("tornado.access", "uvicorn.access"):
        logging.getLogger(access).setLevel(logging.CRITICAL)


class RareWarning:
    """A warning with a count, logged at most once in ten seconds however often its reason occurs."""

    def __init__(self, message: str) -> None:
        self._message = message
        self._count = 0
        self._logged = float("-inf")

    def count(self) -> None:
        self._count += 1
        now = monotonic()
        if now - self._logged >= _RARE_SECONDS:
            logging.getLogger(__name__).warning(self._message, self._count)
            self._logged, self._count = now, 0
