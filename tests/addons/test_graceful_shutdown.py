"""A stop waits for the calls under way, at most as long as the settings permit, and a second signal aborts them."""

import asyncio
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from addons import graceful_shutdown
from addons.graceful_shutdown import GracefulShutdown


class Gateway:
    """A master and the states of its flows; `busy` tells that a call is under way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float = 60) -> None:
        monkeypatch.setattr(graceful_shutdown, "_LOOK_AGAIN_SECONDS", 0)
        self.busy, self.closing, self.stopped, self.listening = True, False, 0, True
        servers = SimpleNamespace(servers=SimpleNamespace(update=self._update))
        master: Any = SimpleNamespace(addons={"proxyserver": servers}, shutdown=self._shutdown)
        self.addon = GracefulShutdown(master, self, seconds)  # type: ignore[arg-type]

    def under_way(self) -> bool:
        return self.busy

    def _shutdown(self) -> None:
        self.stopped += 1

    async def _update(self, modes: list[object]) -> None:
        self.listening = bool(modes)

    async def signalled(self, number: int) -> None:
        self.addon._begin(number)
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.mark.parametrize("busy", [False, True])
async def test_calls_under_way_finish_and_no_new_ones_begin(busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(monkeypatch)
    gateway.busy = busy
    await gateway.signalled(signal.SIGTERM)
    assert (gateway.closing, gateway.stopped) == (True, int(not busy))
    if busy:
        assert not gateway.listening
        gateway.busy = False
        await gateway.addon._waiting
        assert gateway.stopped == 1


async def test_calls_that_take_too_long_are_aborted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway(monkeypatch, seconds=0.01)
    await gateway.signalled(signal.SIGTERM)
    await gateway.addon._waiting
    assert gateway.stopped == 1
    assert caplog.messages[-1] == "shutdown timed out; aborting the calls under way"


async def test_a_second_signal_aborts_unless_a_closed_terminal_sent_both(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(monkeypatch)
    await gateway.signalled(signal.SIGTERM)
    await gateway.signalled(signal.SIGHUP)
    assert gateway.stopped == 0
    await gateway.signalled(signal.SIGINT)
    assert gateway.stopped == 1
    gateway.busy = False
    await gateway.addon._waiting
