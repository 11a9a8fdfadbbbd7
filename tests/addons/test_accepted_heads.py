"""An accepted head is remembered for its caller's credentials alone, for a short time, and among few others."""

from typing import Any

import pytest

from addons.accepted_heads import AcceptedHeads
from gateway.exchange.messages import Call, Listener
from gateway.models import Caller, Scope

KEY = (b"Authorization", b"Bearer svck_a")
CALL = Call("req_1", Listener.GATEWAY, "POST", "http://h:1", "/v1/chat/completions", (KEY,), b"", wire="chat")
OWNER = Caller("key_a", Scope.CLIENT)


@pytest.mark.parametrize(
    ("changed", "known"),
    [
        ({}, True),
        ({"request_id": "req_2", "fields": ((b"x-title", b"another"), (b"authorization", KEY[1]))}, True),
        ({"path": "/v1/protect", "wire": ""}, True),
        ({"path": "/docs", "wire": ""}, False),
        ({"listener": Listener.PROXY}, False),
        ({"fields": ()}, False),
        ({"fields": ((KEY[0], b"Bearer svck_b"),)}, False),
        ({"fields": (KEY, (b"x-svc-key", b"svck_b"))}, False),
    ],
)
def test_heads_of_the_same_caller_are_known(changed: dict[str, Any], known: bool) -> None:
    heads = AcceptedHeads()
    heads.add(CALL, OWNER)
    assert heads.find(CALL._replace(**changed)) == (OWNER if known else None)


def test_they_are_forgotten_after_a_while_and_when_others_come() -> None:
    now = 0.0
    heads = AcceptedHeads(seconds=60, most=2, clock=lambda: now)
    heads.add(CALL, OWNER)
    now = 59.0
    assert heads.find(CALL) == OWNER
    now = 60.0
    assert heads.find(CALL) is None
    calls = [CALL._replace(fields=((KEY[0], b"Bearer %d" % number),)) for number in range(3)]
    for call in calls:
        heads.add(call, OWNER)
    assert [heads.find(call) for call in calls] == [None, OWNER, OWNER]
    heads.add(CALL, None)
    assert heads.find(CALL) is None, "public pages are not remembered"


@pytest.mark.parametrize(
    ("query", "known"),
    [("?key=svck_a", True), ("?alt=sse&%6bey=svck_a", True), ("?key=svck_b", False), ("?alt=sse", False), ("", False)],
)
def test_a_key_in_the_query_belongs_to_the_credentials(query: str, known: bool) -> None:
    heads = AcceptedHeads()
    heads.add(CALL._replace(fields=(), path="/v1/protect?key=svck_a"), OWNER)
    assert heads.find(CALL._replace(fields=(), path=f"/v1/protect{query}")) == (OWNER if known else None)
