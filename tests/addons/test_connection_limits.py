"""The limits of connections, without a network."""

import pytest

from addons import connection_limits
from addons.connection_limits import Clients, ClientState, ConnectionLimits, Phase
from gateway.config.settings import Settings


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
