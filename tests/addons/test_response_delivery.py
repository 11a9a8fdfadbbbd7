"""The client's answer is in the flow for the moment in which mitmproxy takes it, and at no other."""

import asyncio

import pytest
from mitmproxy import http
from mitmproxy.proxy.layers.http import HttpResponseHook
from mitmproxy.test import taddons, tflow

from addons.flow_state import FlowState, FlowStates
from addons.response_delivery import ResponseDelivery
from gateway.ipc.messages import Listener


class Before:
    """Stands for the addons that save and show flows."""

    def __init__(self) -> None:
        self.saw: list[bytes | None] = []

    def response(self, flow: http.HTTPFlow) -> None:
        assert flow.response is not None
        self.saw.append(flow.response.raw_content)


def answered(states: FlowStates, answer: bytes | None) -> http.HTTPFlow:
    flow = tflow.tflow(resp=True)
    flow.response = http.Response.make(200, b"Dear [PERSON_7KQ2M]", {"transfer-encoding": "chunked"})
    state = FlowState("req_1", Listener.GATEWAY, flow.request.headers, ("h", 1, "http"), accepted=True, answer=answer)
    states.add(flow, state)
    return flow


async def test_the_answer_is_there_when_the_hooks_have_ended_and_gone_thereafter() -> None:
    states, before = FlowStates(), Before()
    flow = answered(states, b"Dear Anna")
    assert flow.response is not None
    with taddons.context(before, ResponseDelivery(states)) as context:
        await context.master.addons.handle_lifecycle(HttpResponseHook(flow))
        assert flow.response.raw_content == b"Dear Anna"
        assert flow.response.headers["content-length"] == "9"
        assert "transfer-encoding" not in flow.response.headers
        await asyncio.sleep(0)
    assert flow.response.raw_content == b"Dear [PERSON_7KQ2M]"
    assert before.saw == [b"Dear [PERSON_7KQ2M]"]
    assert not states.under_way()


@pytest.mark.parametrize("known", [True, False])
async def test_an_answer_of_our_own_is_left_alone(known: bool) -> None:
    states = FlowStates()
    flow = answered(states, None)
    if not known:
        states.remove(flow)
    with taddons.context(ResponseDelivery(states)) as context:
        await context.master.addons.handle_lifecycle(HttpResponseHook(flow))
    assert flow.response is not None
    assert flow.response.raw_content == b"Dear [PERSON_7KQ2M]"
