"""The limits of connections, without a network."""

import asyncio
import gc
from weakref import ref

import pytest

from addons.patches import connection_limits
from addons.patches.connection_limits import Clients, ClientState, ConnectionLimits, Phase
from gateway.config.settings import Settings
from gateway.errors import TooManyRequests, Unavailable


@pytest.mark.parametrize("affordable", [2048, 448])
def test_one_address_gets_its_share_of_the_connections_that_open_files_allow(
    affordable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None of the connections can be closed to make room.
    monkeypatch.setattr(connection_limits, "_handler", lambda _: None)
    clients = Clients()
    settings = Settings(max_connections=2048, max_connections_per_address=1024)
    limits = ConnectionLimits(clients, settings, affordable)
    for number in range(affordable // 2):
        assert limits._has_room("192.0.2.1")
        clients.add(ClientState(str(number), "192.0.2.1"))
    assert not limits._has_room("192.0.2.1")
    assert limits._has_room("192.0.2.2")


@pytest.mark.parametrize("phase", [Phase.HEAD, Phase.IDLE, Phase.CLOSING])
def test_a_connection_that_waits_again_can_make_room(phase: Phase) -> None:
    clients, state = Clients(), ClientState("1", "192.0.2.1")
    clients.add(state)
    clients.mark(state, Phase.BUSY)
    assert clients.longest_waiting() is None
    clients.mark(state, phase)
    assert clients.longest_waiting() is state
    clients.mark(state, Phase.TUNNEL)
    assert clients.longest_waiting() is None


async def test_a_connection_that_has_ended_is_not_kept_by_the_look_at_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_limits, "_SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(connection_limits, "_handler", lambda _: None)

    class Watched(ClientState):
        """A state that can be referred to weakly."""

    clients, state = Clients(), Watched("1", "192.0.2.1")
    limits = ConnectionLimits(clients, Settings(), 100)
    clients.add(state)
    limits.running()
    await asyncio.sleep(0.05)
    clients.remove("1")
    kept = ref(state)
    del state
    gc.collect()
    assert kept() is None
    limits.done()


class TestRoom:
    """Bounds the memory of the bodies under way."""

    @staticmethod
    def connected(clients: Clients, count: int) -> list[ClientState]:
        states = [ClientState(str(number), "192.0.2.1") for number in range(count)]
        for state in states:
            clients.add(state)
        return states

    async def test_a_key_has_a_quarter(self) -> None:
        clients = Clients(room=400)
        one, two, three, four = self.connected(clients, 4)
        clients.make_room(one, "a", 60)
        clients.make_room(two, "a", 40)
        with pytest.raises(TooManyRequests) as refused:
            clients.make_room(three, "a", 1)
        assert refused.value.retry_after
        clients.make_room(three, "b", 100)
        clients.mark(one, Phase.BUSY)
        with pytest.raises(TooManyRequests):
            clients.make_room(four, "a", 1)
        clients.mark(one, Phase.IDLE)
        clients.make_room(four, "a", 60)
        clients.remove(four.id)
        clients.make_room(one, "a", 60)

    def test_all_keys_together_have_all_of_it_and_a_key_may_always_send_one(self) -> None:
        clients = Clients(room=400)
        states = self.connected(clients, 5)
        for state, owner in zip(states, "abcd", strict=False):
            clients.make_room(state, owner, 100)
        with pytest.raises(Unavailable) as refused:
            clients.make_room(states[-1], "e", 1)
        assert (refused.value.code, refused.value.retry_after) == ("overloaded", 5)
        clients = Clients(room=400)
        (one,) = self.connected(clients, 1)
        clients.make_room(one, "a", 1000)
