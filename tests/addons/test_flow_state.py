"""The state of a flow is freed with it, and a flow that is gone before its end is reported."""

import gc

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from addons.flow_state import FlowState, FlowStates
from gateway.exchange.messages import Listener


def visited(states: FlowStates, lost: list[str], *, accepted: bool = False) -> http.HTTPFlow:
    flow = tflow.tflow()
    states.add(flow, FlowState("req_1", Listener.GATEWAY, flow.request.headers, ("h", 1, "http"), accepted=accepted))
    states.watch(flow, lambda: lost.append("req_1"))
    return flow


@pytest.mark.parametrize("leaves", [True, False])
def test_a_flow_that_is_gone_before_its_end_is_reported(leaves: bool) -> None:
    states, lost = FlowStates(), list[str]()
    flow = visited(states, lost, accepted=True)
    if leaves:
        states.remove(flow)
    del flow
    gc.collect()
    assert lost == ([] if leaves else ["req_1"])
    assert not states.under_way()


def test_only_who_was_let_in_is_under_way() -> None:
    states = FlowStates()
    flow = visited(states, [])
    state = states.of(flow)
    assert state is not None
    assert not states.under_way()
    state.accepted = True
    assert states.under_way()
    states.remove(flow)
    assert not states.under_way()
