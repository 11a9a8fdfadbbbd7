"""The state of a flow is freed with it, and a flow that is gone before its end is reported."""

import gc

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from addons.flow_state import FlowState, FlowStates
from gateway.exchange.messages import Listener


def visited(states: FlowStates, lost: list[str]) -> http.HTTPFlow:
    flow = tflow.tflow()
    states.add(flow, FlowState("req_1", Listener.GATEWAY, flow.request.headers, ("h", 1, "http")))
    states.watch(flow, lambda: lost.append("req_1"))
    return flow


@pytest.mark.parametrize("leaves", [True, False])
def test_an_accepted_flow_is_under_way_and_reported_if_it_is_gone_before_its_end(leaves: bool) -> None:
    states, lost = FlowStates(), list[str]()
    flow = visited(states, lost)
    state = states.of(flow)
    assert state is not None
    assert not states.under_way()
    state.accepted = True
    assert states.under_way()
    if leaves:
        states.remove(flow)
    del flow, state
    gc.collect()
    assert lost == ([] if leaves else ["req_1"])
    assert not states.under_way()
