"""The conversations of a connection are its own, bounded, and end with it."""

import pytest

from gateway.exchange.earlier_answers import Earlier
from gateway.exchange.socket_conversations import SocketConversations
from gateway.placeholders import Known


def known(count: int) -> tuple[Known, ...]:
    return tuple(
        Known(f"[EMAIL_ADDRESS_AAAA{number}]", "EMAIL_ADDRESS", f"a{number}@b.test") for number in range(count)
    )


ONE = Earlier(key=b"1")


def test_an_answer_is_known_on_its_connection_until_that_ends() -> None:
    sockets = SocketConversations()
    sockets.begin("a", "openai")
    sockets.begin("b", "other")
    sockets.remember("a", ["resp_1", "conv_1", "x" * 257], ONE)
    assert (sockets.get("a", "resp_1"), sockets.get("a", "conv_1")) == (ONE, ONE)
    assert (sockets.get("a", "x" * 257), sockets.get("b", "resp_1"), sockets.get("c", "resp_1")) == (None, None, None)
    assert [sockets.provider(each) for each in ("a", "b", "c")] == ["openai", "other", None]
    sockets.end("a")
    sockets.end("a")
    sockets.remember("a", ["resp_1"], ONE)
    assert (sockets.get("a", "resp_1"), sockets.provider("a")) == (None, None)


@pytest.mark.parametrize("bounds", [{"answers": 1}, {"values": 2}])
def test_the_oldest_is_forgotten_and_the_newest_stays(bounds: dict[str, int]) -> None:
    sockets = SocketConversations(**bounds)
    sockets.begin("a", "openai")
    for name in ("resp_1", "resp_2"):
        sockets.remember("a", [name], Earlier(known(3)))
    assert sockets.get("a", "resp_1") is None
    assert sockets.get("a", "resp_2") is not None


def test_there_are_so_many_connections() -> None:
    sockets = SocketConversations(connections=2)
    for each in "abc":
        sockets.begin(each, "openai")
    assert [sockets.provider(each) for each in "abc"] == [None, "openai", "openai"]
