"""Calls between two processes: their results, their failures, and the end of a process."""

import asyncio
import gc
import os
import queue
import socket
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from gateway.errors import BadRequest, Forbidden, GatewayError, InternalError, TooManyRequests
from gateway.ids import new_request_id
from gateway.workers import rpc
from gateway.workers.rpc import Link, NoReply, answer, answer_in_threads


def told(error: BaseException) -> Exception:
    return error if isinstance(error, GatewayError) else InternalError(type(error).__name__)


@asynccontextmanager
async def linked(**calls: Callable[..., Any]) -> AsyncIterator[tuple[Link, asyncio.Task[None]]]:
    near, far = socket.socketpair()
    answering = asyncio.create_task(answer(far, calls, told))
    link = await Link.open(near)
    yield link, answering
    link.close()
    await asyncio.wait_for(answering, 5)


async def test_a_result_comes_back_to_its_caller() -> None:
    released = asyncio.Event()

    async def slow(text: str) -> str:
        await released.wait()
        return text

    def quick(data: bytes) -> int:
        released.set()
        return len(data)

    async with linked(slow=slow, quick=quick) as (link, _):
        first = asyncio.create_task(link.call("slow", "first"))
        second = asyncio.create_task(link.call("slow", "second"))
        await asyncio.sleep(0)
        assert await link.call("quick", os.urandom(8_000_000)) == 8_000_000
        assert [await second, await first] == ["second", "first"]


async def test_a_call_that_came_before_the_other_end_listened_is_answered() -> None:
    """The called function may return or fail at once, before anything is awaited."""

    def fail() -> None:
        raise BadRequest("No.")

    near, far = socket.socketpair()
    link = await Link.open(near)
    early = [asyncio.create_task(link.call(name)) for name in ("done", "fail")]
    await asyncio.sleep(0.01)
    answering = asyncio.create_task(answer(far, {"done": lambda: "well", "fail": fail}, told))
    well, refusal = await asyncio.wait_for(asyncio.gather(*early, return_exceptions=True), 5)
    assert well == "well"
    assert isinstance(refusal, BadRequest)
    link.close()
    await asyncio.wait_for(answering, 5)


async def test_a_refusal_comes_back_whole_and_other_failures_are_converted() -> None:
    refusals = [
        TooManyRequests("Slow down.", code="rate_limited", param="key", retry_after=7),
        Forbidden("No.", code="blocked_by_policy", param="model"),
    ]

    def refuse(number: int) -> None:
        raise refusals[number] if number < len(refusals) else ValueError("canary-4711")

    async with linked(refuse=refuse, lock=threading.Lock) as (link, _):
        for number, expected in enumerate(refusals):
            with pytest.raises(type(expected)) as refusal:
                await link.call("refuse", number)
            assert (str(refusal.value), refusal.value.body("req_1")) == (str(expected), expected.body("req_1"))
            assert refusal.value.retry_after == expected.retry_after
        for name, arguments, kind in (("refuse", [9], "ValueError"), ("no such call", [], "KeyError")):
            with pytest.raises(InternalError) as failure:
                await link.call(name, *arguments)
            assert str(failure.value) == kind
        with pytest.raises(InternalError):
            await asyncio.wait_for(link.call("lock"), 5)


@pytest.mark.parametrize("closes", [False, True])
async def test_a_call_without_a_waiter_or_link_is_cancelled(closes: bool) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with linked(wait=wait) as (link, answering):
        call = asyncio.create_task(link.call("wait"))
        await asyncio.wait_for(begun.wait(), 5)
        if closes:
            link.close()
            await asyncio.wait_for(answering, 5)
        else:
            call.cancel()
        await asyncio.wait_for(ended.wait(), 5)
        with pytest.raises(NoReply if closes else asyncio.CancelledError):
            await call


async def test_notifications_are_handled_in_order() -> None:
    heard: list[int] = []
    async with linked(note=heard.append, count=lambda: len(heard)) as (link, _):
        for number in range(100):
            link.tell("note", number)
        assert await link.call("count") == 100
    assert heard == list(range(100))


async def test_when_the_other_end_is_gone_every_call_is_refused() -> None:
    near, far = socket.socketpair()
    link = await Link.open(near)
    waiting = asyncio.create_task(link.call("anything"))
    await asyncio.sleep(0)
    far.close()
    with pytest.raises(NoReply) as refused:
        await asyncio.wait_for(waiting, 5)
    assert not refused.value.is_silent
    await asyncio.wait_for(link.lost, 5)
    async with asyncio.timeout(3):
        assert [silence async for silence in link.silences(60)] == []
    with pytest.raises(NoReply):
        await link.call("anything")
    link.tell("anything")
    link.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking beside the threads of other tests
def test_a_forked_process_makes_ids_of_its_own() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, new_request_id().encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100).decode() != new_request_id()
    os.close(reader)
    os.close(writer)


async def test_calls_fail_while_the_other_end_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "_PING_SECONDS", 0.01)
    goes_on, ended = threading.Event(), list[str]()

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    near, far = socket.socketpair()
    calls: dict[str, Callable[..., Any]] = {"slow": slow, "hang": goes_on.wait, "echo": str}
    other = threading.Thread(target=asyncio.run, args=[answer(far, calls, told)])
    other.start()
    link = await Link.open(near)
    silences = link.silences(0.2)
    under_way = [asyncio.create_task(link.call(name)) for name in ("slow", "hang", "echo")]
    assert await anext(silences)
    for call in (*under_way, link.call("echo", "hello")):
        with pytest.raises(NoReply) as refused:
            await call
        assert refused.value.is_silent
    goes_on.set()
    assert not await anext(silences)
    assert await link.call("echo", "hello") == "hello"
    assert ended == ["cancelled"]
    link.close()
    assert [silence async for silence in silences] == []
    other.join(5)


async def test_a_failed_call_keeps_nothing_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the other end is silent, and until it is silent again."""
    monkeypatch.setattr(rpc, "_PING_SECONDS", 0.01)
    near, far = socket.socketpair()
    link = await Link.open(near)
    silences = link.silences(0.2)
    requests = list[weakref.ref[object]]()

    async def ask() -> None:
        request = type("Request", (), {})()
        requests.append(weakref.ref(request))
        await link.call("echo", "hello")

    asking = asyncio.create_task(ask())
    assert await anext(silences)
    with suppress(NoReply):
        await asking
    del asking
    await asyncio.sleep(0)  # the loop has the task until this one has run
    gc.collect()
    assert [request() for request in requests] == [None]
    link.close()
    far.close()


async def test_threads_answer_at_the_same_time_and_those_without_a_loop_call() -> None:
    near, far = socket.socketpair()
    both = threading.Barrier(2)

    def fail() -> None:
        raise BadRequest("No.")

    calls = {"meet": both.wait, "length": len, "fail": fail}
    other = threading.Thread(target=answer_in_threads, args=[far, calls, told, 2])
    other.start()
    link = await Link.open(near)
    replies = queue.SimpleQueue[tuple[bool, Any]]()

    def call(name: str, *arguments: object) -> None:
        link.submit(lambda *reply: replies.put(reply), name, *arguments)

    def meet() -> list[tuple[bool, Any]]:
        call("meet")
        call("meet")
        return [replies.get(timeout=5) for _ in range(2)]

    assert sorted(value for _, value in await asyncio.to_thread(meet)) == [0, 1]
    assert await link.call("length", os.urandom(8_000_000)) == 8_000_000
    with pytest.raises(BadRequest):
        await link.call("fail")
    with pytest.raises(InternalError):
        await link.call("no such call")
    assert link.waiting == 0
    link.close()
    await asyncio.to_thread(other.join, 5)
    assert not other.is_alive()
    far.close()
    call("length", "")
    assert isinstance((await asyncio.to_thread(replies.get))[1], NoReply)
