"""The answer on its way: restored when whole, protected when it cannot be, never cut short by an error of ours."""

import gzip
import logging

import pytest

from addons.restoring import AnswerStream


def restore(body: bytes) -> bytes:
    return body.replace(b"[PERSON_7KQ2M]", b"Anna")


def fail(body: bytes) -> bytes:
    raise ValueError(body.decode())


def through(stream: AnswerStream, *chunks: bytes) -> bytes:
    out = b""
    for chunk in (*chunks, b""):
        piece = stream(chunk)
        out += piece if isinstance(piece, bytes) else b"".join(piece)
    return out


ANSWER = b"Dear [PERSON_7KQ2M], yes."


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("coding", [None, "gzip"])
def test_an_answer_in_pieces_of_any_size(size: int, coding: str | None) -> None:
    sent = gzip.compress(ANSWER) if coding else ANSWER
    stream = AnswerStream(restore, coding, 1000)
    chunks = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert through(stream, *chunks) == b"Dear Anna, yes."
    assert stream.received == ANSWER


def test_what_cannot_be_restored_stays_protected(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert through(AnswerStream(fail, None, 1000), ANSWER) == ANSWER
    assert "ValueError" in caplog.text
    assert "Dear" not in caplog.text


def test_what_is_too_long_to_hold_goes_on_protected() -> None:
    stream = AnswerStream(restore, None, 30)
    assert through(stream, ANSWER, ANSWER, ANSWER) == ANSWER * 3


def test_a_compressed_answer_that_cannot_be_read_ends_empty() -> None:
    """It lost its `content-encoding` with the head, so its bytes would mean nothing to the client."""
    assert through(AnswerStream(restore, "gzip", 1000), ANSWER) == b""
    assert through(AnswerStream(restore, "gzip", 1000), gzip.compress(b"\0" * 5000)) == b""
    assert through(AnswerStream(restore, "gzip", 10), gzip.compress(ANSWER), ANSWER) == b""


def test_an_empty_answer_is_empty() -> None:
    assert through(AnswerStream(fail, None, 10)) == b""
