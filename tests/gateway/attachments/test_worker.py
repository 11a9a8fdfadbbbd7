"""The process that reads a file answers in JSON, whatever happens, and only after it is isolated."""

import json
import socket
from collections.abc import Sequence

import pytest

from gateway.attachments import worker
from gateway.attachments.base import Reason, Refused
from gateway.attachments.worker import LENGTH, READY, read_one


def answer(monkeypatch: pytest.MonkeyPatch, sent: Sequence[bytes], isolate: object) -> tuple[bytes, dict[str, object]]:
    monkeypatch.setattr(worker, "isolate", isolate)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for each in sent:
            ours.sendall(len(each).to_bytes(LENGTH) + each)
        read_one(theirs)
        received = ours.recv(1 << 16)
    ready = received[: len(READY)] if received.startswith(READY) else b""
    return ready, json.loads(received[len(ready) + LENGTH :])


def test_it_answers_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.dumps({"media_type": "text/plain", "name": ""}).encode()
    ready, found = answer(monkeypatch, [said, "größer".encode()], lambda: None)
    assert (ready, found) == (READY, {"kind": "text", "title": "text", "pages": 1, "text": "größer"})


def test_it_says_why_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.dumps({"media_type": "text/plain", "name": ""}).encode()
    assert answer(monkeypatch, [said, b"\xff"], lambda: None)[1] == {"refused": "ENCODING"}
    assert answer(monkeypatch, [b"no JSON", b""], lambda: None)[1] == {"refused": "MALFORMED"}


def test_it_takes_no_file_without_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise Refused(Reason.NOT_ISOLATED)

    said = json.dumps({"media_type": "text/plain", "name": ""}).encode()
    assert answer(monkeypatch, [said, b"private"], fail) == (b"", {"refused": "NOT_ISOLATED"})
