"""The checkpoint remembered outside the database: how far the log has come, in a file beside it.

    {"format": "privacy-gateway/receipts-checkpoint", "version": 1, "checkpoint": "<signed note>"}

Who empties the database, or puts an older copy of it back, takes the signed head along; the log must still extend what
this file remembers. The file follows the log: it is written after the commit, so that it may be behind the log and is
never ahead of it, and a crash between the two raises no false alarm.
"""

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import orjson

from gateway.receipts.checkpoint import Head, parse_head

FILE = "receipts.checkpoint"
FORMAT = "privacy-gateway/receipts-checkpoint"
FORMAT_VERSION = 1

_log = logging.getLogger(__name__)

_SECONDS = 1.0
"""Between two writes: what was appended since the last one is what a crash leaves unremembered."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed head as it is remembered; `head` is None where the file is damaged. The signature is not checked yet."""

    head: Head | None
    note: str

    @property
    def size(self) -> int:
        """How many records it remembers; 1 for a damaged one, which remembers that there was something."""
        return 1 if self.head is None else self.head.size


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """What is remembered in `folder`, or None where nothing is. Raises OSError."""
    try:
        content = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict) or (value.get("format"), value.get("version")) != (FORMAT, FORMAT_VERSION):
        return Checkpoint(None, "")
    note = value.get("checkpoint")
    return Checkpoint(parse_head(note), note) if isinstance(note, str) else Checkpoint(None, "")


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replaces the file, durably, by one that remembers more records; any other stays. Raises OSError."""
    with _locked(folder) as descriptor:
        there = read_checkpoint(folder)
        # A damaged file is evidence; the next start names it.
        if there is not None and (there.head is None or there.size >= checkpoint.size):
            return
        value = {"format": FORMAT, "version": FORMAT_VERSION, "checkpoint": checkpoint.note}
        with NamedTemporaryFile(dir=folder, prefix=FILE, delete=False) as draft:
            try:
                draft.write(orjson.dumps(value) + b"\n")
                draft.flush()
                os.fsync(draft.fileno())
                Path(draft.name).replace(folder / FILE)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
        if descriptor is not None:
            os.fsync(descriptor)


class CheckpointWriter:
    """Writes the newest checkpoint from a thread of its own, at most once a second and at the end: no request waits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._newest: Checkpoint | None = None
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="checkpoint-writer", daemon=True)
        self._thread.start()

    def put(self, checkpoint: Checkpoint) -> None:
        """Has `checkpoint` written, or a newer one. The log it is of must be durable."""
        with self._changed:
            self._newest = checkpoint
            self._changed.notify()

    def close(self) -> None:
        """Writes what is waiting and ends the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._newest is not None or self._closing)
                newest, self._newest = self._newest, None
            if newest is None:
                return
            try:
                write_checkpoint(self._folder, newest)
            except OSError as error:
                # One that is behind is good; the next one is tried again.
                _log.warning("%s could not be written: %s", FILE, type(error).__name__)
            with self._changed:
                self._changed.wait_for(lambda: self._closing, _SECONDS)


@contextmanager
def _locked(folder: Path) -> Iterator[int | None]:
    """Holds off other processes that share the folder, so that none puts back what another has moved on."""
    if sys.platform == "win32":
        yield None
        return
    import fcntl  # noqa: PLC0415 - there is none on Windows

    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
