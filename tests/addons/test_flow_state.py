"""What is known of a flow goes with it, and a flow that is gone before its end is told of."""

import gc

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from addons.flow_state import FlowState, FlowStates
from gateway.ipc.messages import Listener


def visited(visits: FlowStates, lost: list[str], *, let_in: bool = False) -> http.HTTPFlow:
    flow = tflow.tflow()
    visits.enter(flow, FlowState("req_1", Listener.GATEWAY, flow.request.headers, ("h", 1, "http"), let_in=let_in))
    visits.watch(flow, lambda: lost.append("req_1"))
    return flow


@pytest.mark.parametrize("leaves", [True, False])
def test_a_flow_that_is_gone_without_leaving_is_told_of(leaves: bool) -> None:
    visits, lost = FlowStates(), list[str]()
    flow = visited(visits, lost, let_in=True)
    if leaves:
        visits.leave(flow)
    del flow
    gc.collect()
    assert lost == ([] if leaves else ["req_1"])
    assert not visits.under_way()


def test_only_who_was_let_in_is_under_way() -> None:
    visits = FlowStates()
    flow = visited(visits, [])
    visit = visits.of(flow)
    assert visit is not None
    assert not visits.under_way()
    visit.let_in = True
    assert visits.under_way()
    visits.leave(flow)
    assert not visits.under_way()
