"""Closing an exchange: a long answer waits in the workers' queue, is never refused, and always gets an outcome."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from gateway.config.settings import Settings
from gateway.container import Container
from gateway.errors import BadUpstream, Unavailable
from gateway.exchange.answer import _THREAD_THRESHOLD
from gateway.exchange.destination import Destination
from gateway.exchange.messages import AnswerEnd
from gateway.exchange.state import Exchange
from gateway.models import Caller, Scope
from gateway.text.answers import AnswerText
from gateway.wires.base import Body
from gateway.wires.chat_completions import WIRE
from tests.exchanges import protected_exchange

ANNA = Caller("key_anna", Scope.CLIENT)
MAIL = "anna@acme.test"


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    settings = Settings(data_dir=tmp_path, detection="patterns", workers=2, queue_limit=2)
    async with await Container.start(settings) as started:
        yield started


def occupied(container: Container, done: threading.Event) -> "asyncio.Future[list[bool]]":
    """Has both threads do a job of other keys until `done` is set."""
    return asyncio.gather(*(container.workers.run(done.wait, key=f"key_{n}", cost=5000) for n in range(2)))


async def exchange_of(container: Container, **more: object) -> Exchange:
    body: Body = {"model": "m", "messages": [{"role": "user", "content": f"Write to {MAIL}"}]}
    return await protected_exchange(container, WIRE, body, ANNA, Destination("m", url="https://a.test/v1"), **more)


def answer(exchange: Exchange, length: int = _THREAD_THRESHOLD) -> bytes:
    (entry,) = exchange.placeholders.entries()
    text = f"{entry.placeholder} {'word ' * (length // 5)}"
    return orjson.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


async def outcome(container: Container, exchange: Exchange) -> str:
    receipt = (await container.receipts.get(exchange.request_id, ANNA)).as_dict()
    assert receipt["outcome"]["tokens_sent"] > 0
    return str(receipt["outcome"]["outcome"])


async def test_a_long_answer_is_closed_while_requests_are_refused(container: Container) -> None:
    exchange, done = await exchange_of(container), threading.Event()
    others = occupied(container, done)
    await asyncio.sleep(0)
    with pytest.raises(Unavailable) as refused:
        await exchange_of(container)
    assert refused.value.code == "overloaded"
    closing = asyncio.ensure_future(container.answers.close(exchange, 200, answer(exchange)))
    await asyncio.sleep(0.05)
    assert not closing.done()
    done.set()
    assert MAIL.encode() in await closing
    await others
    assert await outcome(container, exchange) == "answered"


@pytest.mark.parametrize("streamed", [False, True])
async def test_closing_that_is_cancelled_is_recorded(container: Container, streamed: bool) -> None:
    exchange, done = await exchange_of(container), threading.Event()
    others = occupied(container, done)
    text = AnswerText(None, "text", "word " * _THREAD_THRESHOLD)
    end = AnswerEnd("answered", 200, (1, 2), "pass", [text])
    answers = container.answers
    closing = asyncio.ensure_future(
        answers.end(exchange, end) if streamed else answers.close(exchange, 200, answer(exchange))
    )
    await asyncio.sleep(0.05)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    done.set()
    await others
    assert await outcome(container, exchange) == ("answered" if streamed else "restore_failed")


@pytest.mark.parametrize(
    ("body", "annotated", "expected"),
    [
        (b"no JSON", False, "unreadable_answer"),
        (b"no JSON", True, "unreadable_answer"),
        (b'{"choices": 1}', False, "answered"),
    ],
)
async def test_an_answer_that_cannot_be_restored_passes_unless_it_is_annotated(
    container: Container, body: bytes, annotated: bool, expected: str
) -> None:
    exchange = await exchange_of(container, annotated=annotated)
    if annotated:
        with pytest.raises(BadUpstream):
            await container.answers.close(exchange, 200, body)
    else:
        assert await container.answers.close(exchange, 200, body) == body
    assert await outcome(container, exchange) == expected


async def test_a_guard_that_fails_leaves_the_answer_protected(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("canary")

    monkeypatch.setattr("gateway.exchange.answer_guard.inspect", fail)
    whole, streamed = await exchange_of(container), await exchange_of(container)
    body = answer(whole, 10)
    assert await container.answers.close(whole, 200, body) == body
    assert await outcome(container, whole) == "restore_failed"
    # A stream has been delivered; only the report is missing.
    await container.answers.end(streamed, AnswerEnd("answered", 200, None, "pass", [AnswerText(None, "text", "a")]))
    assert await outcome(container, streamed) == "answered"
    assert streamed.verdict is None
