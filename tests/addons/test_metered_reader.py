"""A call for a client that closes its connection is cancelled, and no other is."""

import asyncio
import contextlib

import pytest

from addons.metered_reader import ClientGone, MeteredReader


class Sent:
    """A stream that gives each of its `pieces` on demand."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = list(pieces)
        self.more = asyncio.Semaphore(0)

    async def read(self, _: int) -> bytes:
        await self.more.acquire()
        piece = self.pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece


@pytest.mark.parametrize("end", [b"", ConnectionResetError()])
async def test_work_for_a_client_is_cancelled_when_it_closes(end: bytes | Exception) -> None:
    sent = Sent(b"{}", end)
    reader = MeteredReader(sent)
    ended = list[str]()

    async def serve() -> None:
        with pytest.raises(ClientGone), reader.until_closed():
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("work")
        ended.append("hook")

    serving = asyncio.create_task(serve())
    await asyncio.sleep(0)
    sent.more.release()
    assert await reader.read(100) == b"{}"
    assert not ended
    sent.more.release()
    with contextlib.suppress(ConnectionResetError):
        assert await reader.read(100) == b""
    await serving
    assert ended == ["work", "hook"]
    assert not serving.cancelling()
    with pytest.raises(ClientGone), reader.until_closed():
        pytest.fail("the client has gone")


async def test_other_cancellations_are_passed_on() -> None:
    reader = MeteredReader(Sent())

    async def serve() -> None:
        with reader.until_closed():
            await asyncio.Event().wait()

    serving = asyncio.create_task(serve())
    await asyncio.sleep(0)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
