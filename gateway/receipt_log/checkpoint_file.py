"""Remembers the latest checkpoint in a file outside the database.

    {"format": "privacy-gateway/receipts-checkpoint", "version": 1, "checkpoint": "<signed note>"}

Emptying the database or restoring an older copy changes the signed checkpoint along with the log, but the log must
still extend the one in this file. The file is written after the commit, so it may lag the log but never leads it, and a
crash between the two raises no false alarm.
"""

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from gateway.config.durable_files import replacing
from gateway.receipts.checkpoint import Checkpoint, parse_checkpoint
from gateway.store.repeated_failures import RepeatedFailures

if sys.platform != "win32":
    import fcntl

FILE = "receipts.checkpoint"
FORMAT = "privacy-gateway/receipts-checkpoint"
FORMAT_VERSION = 1

_SECONDS = 1.0
"""Between two writes. A crash forgets at most the records appended since the last one."""


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Returns what is in the file of `folder`, its signature not yet verified, or None if there is no file.

    For a damaged file, its size is 1, since there was a record, and its root empty, which no signature fits. Raises
    OSError.
    """
    try:
        content = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict) or (value.get("format"), value.get("version")) != (FORMAT, FORMAT_VERSION):
        value = {}
    note = str(value.get("checkpoint", ""))
    return parse_checkpoint(note) or Checkpoint(1, b"", note)


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replaces the file durably if `checkpoint` covers more records. Raises OSError."""
    with locked(folder) as descriptor:
        existing = read_checkpoint(folder)
        # A damaged file is kept as evidence; the next start reports it.
        if existing is not None and (not existing.root or existing.size >= checkpoint.size):
            return
        value = {"format": FORMAT, "version": FORMAT_VERSION, "checkpoint": checkpoint.note}
        with replacing(folder / FILE) as draft:
            draft.write(orjson.dumps(value) + b"\n")
        if descriptor is not None:
            os.fsync(descriptor)


class CheckpointWriter:
    """Writes the newest checkpoint in a thread, at most once a second and on closing, so that no request waits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._newest: deque[Checkpoint] = deque(maxlen=1)
        # Two events rather than a condition: a commit must not wake the thread while it pauses between two writes.
        self._pending = threading.Event()
        self._closing = threading.Event()
        # A file that lags is valid; the next checkpoint is tried again.
        self._failures = RepeatedFailures(
            f"{FILE} could not be written: %s", f"{FILE} is written again", logging.WARNING
        )
        self._thread = threading.Thread(target=self._run, name="checkpoint-writer", daemon=True)
        self._thread.start()

    def put(self, checkpoint: Checkpoint) -> None:
        """Schedules `checkpoint`, whose records must be durable. A newer one may be written in its place."""
        self._newest.append(checkpoint)
        self._pending.set()

    def close(self) -> None:
        """Writes the pending checkpoint and ends the thread."""
        self._closing.set()
        self._pending.set()
        self._thread.join()

    def _run(self) -> None:
        while self._newest or not self._closing.is_set():
            self._pending.wait()
            self._pending.clear()
            if not self._newest:
                continue
            try:
                write_checkpoint(self._folder, self._newest.pop())
                self._failures.end()
            except OSError as error:
                self._failures.add(type(error).__name__)
            self._closing.wait(_SECONDS)


@contextmanager
def locked(folder: Path) -> Iterator[int | None]:
    """Locks the folder against other processes, so that none overwrites a newer checkpoint or key. Not on Windows."""
    if sys.platform == "win32":
        yield None
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
