"""What restores a streamed answer is asked for once the request is released, and not for calls that need none."""

from typing import Any, cast

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from addons.flow_state import FlowState, FlowStates
from addons.stream_restorers import StreamRestorers
from gateway.errors import Unavailable
from gateway.exchange.messages import ForwardedRequest, Gateway, Listener, StreamPlan
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.document import GuardDocument
from gateway.wires import Wires

pytestmark = pytest.mark.anyio

CHAT = Wires.discover().serving("POST", "/v1/chat/completions")


class FakeGateway:
    """Returns or raises what it was made with, and notes how it was asked."""

    def __init__(self, planned: StreamPlan | Exception | None) -> None:
        self.planned = planned
        self.asked: list[tuple[str, bool]] = []

    async def stream_plan(self, request_id: str, annotate: bool) -> StreamPlan | None:
        self.asked.append((request_id, annotate))
        if isinstance(self.planned, Exception):
            raise self.planned
        return self.planned


def released(
    listener: Listener = Listener.GATEWAY, *, streams: bool = True
) -> tuple[FlowStates, http.HTTPFlow, FlowState]:
    flow, states = tflow.tflow(), FlowStates()
    state = FlowState("req_01", listener, http.Headers(), ("api.example", 443, "https"), wire=CHAT)
    state.forwarded, state.cleared = ForwardedRequest("https://api.example/v1", (), b"{}", streams=streams), True
    states.add(flow, state)
    return states, flow, state


def restorers(gateway: FakeGateway, states: FlowStates) -> StreamRestorers:
    return StreamRestorers(cast(Gateway, gateway), states, 1000)


@pytest.mark.parametrize("listener", Listener)
async def test_it_is_made_from_the_plan(listener: Listener) -> None:
    plan = StreamPlan(
        Placeholders(b"k" * 32), RestoreScope("source"), GuardDocument(), {}, b"{}", "req_01", "json-array"
    )
    gateway = FakeGateway(plan)
    states, flow, state = released(listener)
    restorers(gateway, states).request(flow)
    assert state.restorer is not None
    restorer = await state.restorer
    assert restorer is not None
    assert restorer.framing == "json-array"
    assert gateway.asked == [("req_01", listener is Listener.GATEWAY)]


async def test_there_is_none_for_a_request_that_has_ended() -> None:
    states, flow, state = released()
    restorers(FakeGateway(None), states).request(flow)
    assert state.restorer is not None
    assert await state.restorer is None


async def test_a_gateway_that_is_gone_fails_the_answer() -> None:
    states, flow, state = released()
    restorers(FakeGateway(Unavailable("The gateway has stopped.")), states).request(flow)
    assert state.restorer is not None
    with pytest.raises(Unavailable):
        await state.restorer


@pytest.mark.parametrize("what", ["not a stream", "HTTP/1.0", "refused", "no wire"])
async def test_it_is_not_asked_for_without_need(what: str) -> None:
    gateway: Any = FakeGateway(None)
    states, flow, state = released(streams=what != "not a stream")
    if what == "HTTP/1.0":
        flow.request.http_version = what
    state.cleared = what != "refused"
    state.wire = CHAT if what != "no wire" else None
    restorers(gateway, states).request(flow)
    assert (state.restorer, gateway.asked) == (None, [])
