"""The message of a peer is bounded in bytes and frames, and its close frame is waited for."""

import pytest
from mitmproxy.proxy import commands
from mitmproxy.test import tflow
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, TextMessage

from addons.patches.websocket_peer import POLICY, TOO_BIG, UNSUPPORTED, Peer


def peer(limit: int = 100_000) -> Peer:
    return Peer(tflow.tclient_conn(), ConnectionType.SERVER, limit)


def test_a_message_is_put_together() -> None:
    one = peer()
    assert one.seconds == 0.0
    for part, whole in (("Gr", False), ("üße", True)):
        assert one.add(TextMessage(part, message_finished=whole)) == 0
    assert one.seconds > 0.0
    assert (one.taken().decode(), one.seconds, bytes(one.text)) == ("Grüße", 0.0, b"")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([BytesMessage(b"a")], UNSUPPORTED),
        ([TextMessage("a" * 100_000)], 0),
        ([TextMessage("a" * 100_001)], TOO_BIG),
        ([TextMessage("é" * 50_001)], TOO_BIG),
        ([TextMessage("", message_finished=False)] * 4097, POLICY),
        ([TextMessage("a" * 256, message_finished=False)] * 300, 0),
    ],
)
def test_a_message_has_bounds(parts: list[TextMessage], code: int) -> None:
    one = peer()
    assert [one.add(part) for part in parts][-1] == code


def test_a_peer_has_time_to_answer_a_close_frame() -> None:
    one, other = peer(), Connection(ConnectionType.CLIENT)
    (sent,) = one.close(1009, waits=True)
    assert isinstance(sent, commands.SendData)
    other.receive_data(sent.data)
    (closing,) = other.events()
    assert isinstance(closing, CloseConnection)
    assert (closing.code, closing.reason) == (1009, "")
    assert not one.has_left(Connection(ConnectionType.CLIENT).send(TextMessage("more")))
    assert one.has_left(other.send(closing.response()))
    assert [*one.send(b"late")] == []


def test_a_peer_that_has_left_is_closed_at_once() -> None:
    one, other = peer(), Connection(ConnectionType.CLIENT)
    one.frames.receive_data(other.send(CloseConnection(1000)))
    assert len([*one.frames.events()]) == 1
    sent, closed = one.close(1000, waits=True)
    assert isinstance(sent, commands.SendData)
    assert isinstance(closed, commands.CloseConnection)
    assert one.has_left(b"")
    assert [type(each) for each in peer().close(1001)] == [commands.SendData, commands.CloseConnection]
