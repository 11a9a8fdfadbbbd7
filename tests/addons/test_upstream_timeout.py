"""An upstream's timeout begins once a request may be sent, ends with the answer, and does not affect later requests."""

import asyncio
import gc
from types import SimpleNamespace
from typing import Any, cast
from weakref import ref

import pytest
from mitmproxy import ctx, http
from mitmproxy.test import taddons, tflow

from addons.flow_state import FlowState, FlowStates
from addons.upstream_faults import UpstreamTimeouts
from gateway.exchange.messages import ForwardedRequest, Listener
from gateway.http.upstream_failures import Fault

pytestmark = pytest.mark.anyio


class Transport:
    def __init__(self) -> None:
        self.handler = self
        self.ended = False

    def cancel(self, _: str) -> None:
        self.ended = True


class Connections:
    """The state of `proxyserver`: one client with one upstream."""

    def __init__(self, flow: http.HTTPFlow) -> None:
        self.client, self.upstream = Transport(), Transport()
        transports = {flow.client_conn: self.client, flow.server_conn: self.upstream}
        self.connections = {flow.client_conn.id: SimpleNamespace(client=flow.client_conn, transports=transports)}


def crossing(seconds: float | None) -> tuple[FlowStates, http.HTTPFlow, FlowState]:
    flow, states = tflow.tflow(), FlowStates()
    state = FlowState("req_01", Listener.GATEWAY, http.Headers(), ("api.example", 443, "https"))
    state.forwarded, state.cleared = ForwardedRequest("https://api.example/v1", (), b"", timeout_seconds=seconds), True
    states.add(flow, state)
    return states, flow, state


async def waited(flow: http.HTTPFlow, patience: UpstreamTimeouts, *hooks: str) -> Connections:
    with taddons.context():
        known = Connections(flow)
        ctx.master.addons.lookup["proxyserver"] = cast(Any, known)
        for hook in hooks:
            getattr(patience, hook)(flow)
        await asyncio.sleep(0.05)
    return known


async def test_its_connection_is_ended_and_the_clients_is_not() -> None:
    states, flow, state = crossing(0.01)
    flow.live = True
    known = await waited(flow, UpstreamTimeouts(states), "request")
    assert (state.fault, known.upstream.ended, known.client.ended) == (Fault.TIMED_OUT, True, False)


@pytest.mark.parametrize(
    ("seconds", "hooks", "changes"),
    [
        (0.01, ["request", "response"], {}),
        (0.01, ["request", "error"], {}),
        # Refused after its answer: no later addon hears of the end, and the client's next request may be under way.
        (0.01, ["request"], {"live": False}),
        # Native calls have no time limit.
        (None, ["request"], {}),
        (0.01, ["request"], {"cleared": False}),
    ],
)
async def test_other_calls_are_left_alone(seconds: float | None, hooks: list[str], changes: dict[str, bool]) -> None:
    states, flow, state = crossing(seconds)
    flow.live, state.cleared = changes.get("live", True), changes.get("cleared", True)
    known = await waited(flow, UpstreamTimeouts(states), *hooks)
    assert (state.fault, known.upstream.ended) == (None, False)


async def test_a_flow_that_is_gone_is_not_kept() -> None:
    states, flow, state = crossing(60)
    patience = UpstreamTimeouts(states)
    patience.request(flow)
    known = ref(flow)
    del flow, state
    gc.collect()
    assert known() is None
