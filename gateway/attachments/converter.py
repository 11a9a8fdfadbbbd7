"""Has a process of its own convert each file, and ends it when it has answered or takes too long."""

import json
import socket
import subprocess
import threading
from time import monotonic
from typing import Any

from gateway.attachments.base import MOST_BYTES, MOST_CHARACTERS, Converted, File, Reason, Refused
from gateway.attachments.worker import LENGTH, READY, read_one
from gateway.workers.process_starter import start_process

SECONDS = 10.0
"""How long the reading of one file may take."""
_STARTING_SECONDS = 60.0
"""How long a process may take to start, which it does before it has the file."""
_MOST_ANSWERED = 12 * MOST_CHARACTERS

type _Process = tuple[subprocess.Popen[bytes], socket.socket]


class Converter:
    """Converts files. Keeps one process ready, once there was a file; each is used for one file only. Thread-safe."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._ready: _Process | None = None
        self._lock = threading.Lock()
        self._closed = False

    def convert(self, file: File) -> Converted:
        """Returns the text of a file. Raises Refused. Blocks."""
        if len(file.data) > MOST_BYTES:
            raise Refused(Reason.TOO_LARGE)
        process, end = self._take()
        try:
            _await_ready(end)
            return _converted(_ask(end, file, monotonic() + self._seconds))
        finally:
            _end(process, end)
            self._make_ready()

    def close(self) -> None:
        """Ends the process that is ready."""
        with self._lock:
            self._closed, ready, self._ready = True, self._ready, None
        if ready is not None:
            _end(*ready)

    def _take(self) -> _Process:
        with self._lock:
            ready, self._ready = self._ready, None
        if ready is not None:
            if ready[0].poll() is None:
                return ready
            _end(*ready)
        return _started()

    def _make_ready(self) -> None:
        with self._lock:
            if self._ready is None and not self._closed:
                try:
                    self._ready = _started()
                except Refused:
                    self._ready = None


def _started() -> _Process:
    try:
        return start_process(read_one)
    except (OSError, ValueError):
        # Windows cannot hand a socket on in this way.
        raise Refused(Reason.NOT_ISOLATED) from None


def _end(process: subprocess.Popen[bytes], end: socket.socket) -> None:
    end.close()
    process.kill()
    process.wait()


def _await_ready(end: socket.socket) -> None:
    try:
        if _received(end, len(READY), monotonic() + _STARTING_SECONDS) == READY:
            return
    except (OSError, EOFError):
        pass
    # It has said instead why it cannot be isolated, or nothing.
    raise Refused(Reason.NOT_ISOLATED)


def _ask(end: socket.socket, file: File, deadline: float) -> Any:
    """Sends a file and returns the answer, which may be anything: a hostile file may have made it."""
    said = json.dumps({"media_type": file.media_type, "name": file.name}).encode()
    try:
        for each in (said, file.data):
            end.settimeout(max(0.001, deadline - monotonic()))
            end.sendall(len(each).to_bytes(LENGTH) + each)
        length = int.from_bytes(_received(end, LENGTH, deadline))
        if length > _MOST_ANSWERED:
            raise Refused(Reason.TOO_LARGE)
        return json.loads(_received(end, length, deadline))
    except (OSError, EOFError):
        # It was killed for its time or memory, or has crashed.
        raise Refused(Reason.TOO_SLOW) from None
    except (ValueError, RecursionError):
        raise Refused(Reason.MALFORMED) from None


def _received(end: socket.socket, left: int, deadline: float) -> bytes:
    pieces: list[bytes] = []
    while left:
        end.settimeout(max(0.001, deadline - monotonic()))
        piece = end.recv(min(left, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _converted(answer: Any) -> Converted:
    match answer:
        case {"kind": str(kind), "title": str(title), "pages": int(pages), "text": str(text)}:
            if len(text) > 2 * MOST_CHARACTERS:
                raise Refused(Reason.TOO_LARGE)
            return Converted(kind, title, pages, text)
        case {"refused": str(name)} if name in Reason.__members__:
            raise Refused(Reason[name])
    raise Refused(Reason.MALFORMED)
