"""Sets up logging, and keeps private text out of it.

mitmproxy's messages can quote what a client sent (a malformed request head, the text of an exception). They are
replaced when a record is created, because both mitmweb's event log and the terminal handler are on the root logger.
"""

import logging
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from gateway.config.settings import Settings, SettingsError

if sys.platform != "win32":
    import fcntl

_log = logging.getLogger(__name__)

# These log about listeners, certificates and the start, never about traffic.
_PLAIN_SPEAKERS = (
    "mitmproxy.addons.proxyserver",
    "mitmproxy.proxy.mode_servers",
    "mitmproxy.addons.errorcheck",
)
_RARE_SECONDS = 10.0
_NAME = "privacy-gateway"
# Read here: the log is set up first, and a start would wait for all of detection to be loaded.
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_KNOWN = [(re.compile(beginning, re.DOTALL), words) for beginning, words in _WORDS.items()]


class _Record(logging.LogRecord):
    """A log record that replaces the message of other libraries by our words, or by its place in their code."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        foreign = self.name.startswith(("mitmproxy", "tornado", "asyncio", "uvicorn", "httpx", "httpcore", "hpack"))
        if foreign and not self.name.startswith(_PLAIN_SPEAKERS):
            self.msg, self.args = self._words(), ()
        if self.exc_info and self.exc_info[0]:
            # A traceback ends with the text of the exception, which may hold private text.
            self.exc_info = None
        self.exc_text = None

    def _words(self) -> str:
        """Returns fixed words for a message, with the type of the exception."""
        kind = self.exc_info[0].__name__ if self.exc_info and self.exc_info[0] else None
        words = (
            known_words(str(self.msg))
            or f"{self.name} reports a problem at {self.filename}:{self.lineno} (its text may quote a request)"
        )
        return f"{words}: {kind}" if kind else words


def known_words(message: str) -> str | None:
    """Returns our words for a message of another library."""
    return next((words for beginning, words in _KNOWN if beginning.match(message)), None)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        # The members of a request's line, in place of its text.
        request = getattr(record, "request", None)
        line |= {"message": record.getMessage()} if request is None else {"message": "request", **request}
        return orjson.dumps(line).decode()


class LogFile(WatchedFileHandler):
    """Appends to a file that only its owner can read. Each process opens it anew before a line if it was moved.

    Lines that cannot be written to the file, such as on a full disk, go to the handler `instead`, after one that says
    why. The file says when it has lines again.
    """

    def __init__(self, path: Path, instead: logging.Handler) -> None:
        self.instead = instead
        self.failures = 0
        self._lasts = False
        super().__init__(path, encoding="utf-8", errors="backslashreplace")

    def reopen(self) -> None:
        """Opens the file anew if it was moved."""
        self.acquire()
        try:
            with suppress(OSError):  # the next line tries again
                self.reopenIfNeeded()
        finally:
            self.release()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.reopenIfNeeded()
            stream = self.stream = self.stream or self._open()
            self._write(record, stream.fileno())
        except OSError as error:
            if not self._lasts:
                self._lasts = True
                message = f"log_file cannot be written ({error.strerror}); its lines follow here"
                self.instead.handle(_own_record(logging.ERROR, message))
            self.handleError(record)
        else:
            if self._lasts:
                self._lasts = False
                again = _own_record(logging.INFO, "log_file is written again")
                if again.levelno >= self.level:
                    self.emit(again)

    def _write(self, record: logging.LogRecord, descriptor: int) -> None:
        """Writes a line without a buffer, which would keep a line that did not fit, and write it a second time."""
        line = f"{self.format(record)}\n".encode(errors="backslashreplace")
        with _locked(descriptor):
            line = b"\n" + line if _is_cut(descriptor) else line
            while line:
                line = line[os.write(descriptor, line) :]

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging calls it so
        self.failures += 1
        self.instead.handle(record)

    def _open(self) -> TextIOWrapper:
        return os.fdopen(_opened(self.baseFilename), "a", encoding=self.encoding, errors=self.errors)


def _own_record(level: int, message: str) -> logging.LogRecord:
    return _log.makeRecord(_log.name, level, __file__, 0, message, (), None)


def set_up_logging(level: str, *, json_lines: bool, file: Path | None = None) -> None:
    """Logs from `level` on: to `file`, else JSON to standard output and text to standard error.

    Leaves out what mitmproxy logs about every connection. Called again, it replaces the log that it has set up.

    Raises SettingsError if the file cannot be opened.
    """
    logging.setLogRecordFactory(_Record)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    formatter = _JsonLines() if json_lines else plain
    handler: logging.Handler = logging.StreamHandler(sys.stdout if json_lines else sys.stderr)
    handler.setFormatter(formatter)
    root, before = logging.getLogger(), logging.getHandlerByName(_NAME)
    if file is not None:
        try:
            handler = _log_file(file, handler, before)
        except OSError as error:
            raise _unwritable(file, error) from None
        handler.setFormatter(formatter)
    handler.setLevel(level.upper())
    root.addHandler(handler)
    if before is not None and before is not handler:
        root.removeHandler(before)
        with suppress(OSError):  # a full disk: it took no more lines
            before.close()
    handler.name = _NAME
    root.setLevel(level.upper())
    for noisy in ("mitmproxy", "tornado", "asyncio", "uvicorn", "httpx", "httpcore", "hpack", "quic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for access in ("tornado.access", "uvicorn.access"):
        logging.getLogger(access).setLevel(logging.CRITICAL)
    root.addFilter(_is_worth_a_line)


def _log_file(path: Path, instead: logging.Handler, before: logging.Handler | None) -> LogFile:
    """Returns the handler for a file: the one before, which knows of its failures, if its path is the same."""
    if not isinstance(before, LogFile):
        return LogFile(path, instead)
    if before.baseFilename != os.path.abspath(path):  # noqa: PTH100 - as the handler does it
        made = LogFile(path, instead)
        made.failures = before.failures
        return made
    before.instead = instead
    return before


def use_log(settings: Settings) -> None:
    """Logs as the settings say. Logs why if that is not possible, and keeps the log."""
    try:
        set_up_logging(settings.log_level, json_lines=settings.log_json, file=settings.log_file)
    except SettingsError as error:
        _log.error("%s", error)


def check_log_file(file: Path | None) -> None:
    """Raises SettingsError if the file cannot be opened."""
    if file is not None:
        try:
            os.close(_opened(file))
        except OSError as error:
            raise _unwritable(file, error) from None


def _opened(file: str | Path) -> int:
    path, how = Path(file), os.O_APPEND | os.O_CREAT
    with suppress(PermissionError):  # it may be writable and not readable
        if path.is_file() or not path.exists():  # its last byte is read, which a pipe has not
            return os.open(path, os.O_RDWR | how, 0o600)
    return os.open(path, os.O_WRONLY | how, 0o600)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Keeps the other process from writing for the duration of the context, where the system and the file can."""
    if sys.platform == "win32":
        yield
        return
    with suppress(OSError):
        fcntl.lockf(descriptor, fcntl.LOCK_EX)  # of the process: a forked one shares the open file
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.lockf(descriptor, fcntl.LOCK_UN)


def _is_cut(descriptor: int) -> bool:
    """Tells whether a file ends within a line: the disk was full, in this process or the other."""
    if sys.platform == "win32":
        return False
    try:
        size = os.fstat(descriptor).st_size
        return size > 0 and os.pread(descriptor, 1, size - 1) not in (b"", b"\n")
    except OSError:  # a pipe, or not readable
        return False


def _unwritable(file: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"log_file: {file} cannot be written ({error.strerror}); name another file, or leave `log_file` out to log to"
        " standard error"
    )


def reopen_log() -> None:
    """Opens the log file anew if it was moved. Does nothing if the log is standard error."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogFile):
            handler.reopen()
            _log.info("reopened the log")


def failed_lines() -> int:
    """Returns how many lines of this process could not be written to the log file."""
    return sum(each.failures for each in logging.getLogger().handlers if isinstance(each, LogFile))


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Leaves out a warning of every request that offers HTTP/2 in the clear (Java's clients); the offer is ignored."""
    return not (record.module == "disable_h2c" and "upgrade requests" in record.msg)


class RareWarning:
    """A warning with a count of its occurrences, logged at most once in `seconds`, by `count` or `flush`."""

    def __init__(self, message: str, seconds: float = _RARE_SECONDS) -> None:
        self._message = message
        self._seconds = seconds
        self._count = 0
        self._logged = float("-inf")

    def count(self) -> None:
        self._count += 1
        self.flush()

    def flush(self, *, at_once: bool = False) -> None:
        """Logs what was counted since the last message, unless that was less than `seconds` ago."""
        now = monotonic()
        if self._count and (at_once or now - self._logged >= self._seconds):
            logging.getLogger(__name__).warning(self._message, self._count)
            self._logged, self._count = now, 0


class RareWarnings:
    """Warnings of several causes, each with a count of its own. Their words are the program's, so they are few."""

    def __init__(self, seconds: float = _RARE_SECONDS) -> None:
        self._seconds = seconds
        self._warnings: dict[str, RareWarning] = {}

    def count(self, words: str) -> None:
        if words not in self._warnings:
            self._warnings[words] = RareWarning(f"{words}: %d", self._seconds)
        self._warnings[words].count()

    def flush(self, *, at_once: bool = False) -> None:
        """Does so with each; see `RareWarning`."""
        for each in self._warnings.values():
            each.flush(at_once=at_once)
