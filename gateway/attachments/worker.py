"""The process that reads one file: it prepares, isolates itself, and only then receives the file.

What it answers is JSON. The gateway would not unpickle what a process sends that a hostile file may have taken over.
"""

import codecs
import json
import os
import socket
from itertools import chain

from gateway.attachments.base import File, Reason, Refused
from gateway.attachments.isolation import isolate
from gateway.attachments.registry import convert, kinds

LENGTH = 4
READY = b"."
_PIECE = 1 << 20


def read_one(end: socket.socket) -> None:
    """Reads the file that comes by a socket, and answers with its text or the reason why there is none."""
    number = end.fileno()
    try:
        for kind in kinds():
            kind.prepare()
        for name in chain.from_iterable(kind.codecs for kind in kinds()):
            codecs.lookup(name)
        isolate()
        os.write(number, READY)
        answer = _answer(number)
    except Refused as refused:
        answer = {"refused": refused.reason.name}
    except BaseException:  # noqa: BLE001 - whatever happens, the gateway gets an answer
        answer = {"refused": Reason.MALFORMED.name}
    _write(number, json.dumps(answer).encode("utf-8", "replace"))


def _answer(number: int) -> dict[str, object]:
    said = json.loads(_read(number))
    file = File(_read(number), said["media_type"], said["name"])
    converted = convert(file)
    return {
        "kind": converted.kind,
        "title": converted.title,
        "pages": converted.pages,
        # Lone surrogates would be no UTF-8.
        "text": converted.text.encode("utf-8", "replace").decode(),
    }


def _read(number: int) -> bytes:
    left = int.from_bytes(_exactly(number, LENGTH))
    return _exactly(number, left)


def _exactly(number: int, left: int) -> bytes:
    pieces: list[bytes] = []
    while left:
        piece = os.read(number, min(left, _PIECE))
        if not piece:
            os._exit(0)
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _write(number: int, data: bytes) -> None:
    left = memoryview(len(data).to_bytes(LENGTH) + data)
    while left:
        left = left[os.write(number, left) :]
