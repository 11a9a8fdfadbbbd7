"""The client gets its answer, and no flow ever holds it."""

import asyncio
import inspect

import pytest
from mitmproxy import http
from mitmproxy.options import Options
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import HttpResponseHook, SendHttp
from mitmproxy.proxy.layers.http._events import ResponseData, ResponseHeaders
from mitmproxy.test import taddons, tflow

from addons.flow_state import FlowState, FlowStates
from addons.patches.response_delivery import ResponseDelivery
from gateway.exchange.messages import Listener

PROTECTED = b"Dear [PERSON_7KQ2M]"


class Before:
    """An addon in place of those that save and show flows."""

    def __init__(self) -> None:
        self.saw: list[bytes | None] = []

    def response(self, flow: http.HTTPFlow) -> None:
        assert flow.response is not None
        self.saw.append(flow.response.raw_content)


def answered(states: FlowStates, answer: bytes | None) -> http.HTTPFlow:
    flow = tflow.tflow(resp=True)
    flow.response = http.Response.make(200, PROTECTED, {"transfer-encoding": "chunked"})
    state = FlowState("req_1", Listener.GATEWAY, flow.request.headers, ("h", 1, "http"), accepted=True, answer=answer)
    states.add(flow, state)
    return flow


async def sent(flow: http.HTTPFlow, *addons: object) -> tuple[http.Response, bytes]:
    """Returns the head and the body that the client gets. The loop goes round between the hooks and the sending."""
    stream = http_layers.HttpStream(Context(flow.client_conn, Options()), 1)
    stream.flow, stream.client_state = flow, stream.state_done
    with taddons.context(*addons) as context:
        commands = stream.send_response()
        hook = next(commands)
        assert isinstance(hook, HttpResponseHook)
        await context.master.addons.handle_lifecycle(hook)
        for _ in range(3):
            await asyncio.sleep(0)
        heads, body = [], b""
        for command in commands:
            event = command.event if isinstance(command, SendHttp) else None
            if isinstance(event, ResponseHeaders):
                heads.append(event.response)
            elif isinstance(event, ResponseData):
                body += event.data
            assert flow.response is not None
            assert flow.response.raw_content == PROTECTED
    (head,) = heads
    return head, body


@pytest.fixture
def delivery(monkeypatch: pytest.MonkeyPatch) -> ResponseDelivery:
    monkeypatch.setattr(http_layers, "HttpStream", http_layers.HttpStream)
    delivery = ResponseDelivery(FlowStates())
    delivery.install()
    return delivery


@pytest.mark.parametrize("answer", [b"Dear Anna", b"Dear Anna-Katharina Schmidt", b""])
async def test_the_client_gets_its_answer_whenever_it_is_sent_and_no_flow_holds_it(
    delivery: ResponseDelivery, answer: bytes
) -> None:
    before = Before()
    flow = answered(delivery.states, answer)
    head, body = await sent(flow, before, delivery)
    assert body == answer
    assert head.headers["content-length"] == str(len(answer))
    assert "transfer-encoding" not in head.headers
    assert before.saw == [PROTECTED]
    assert flow.response is not None
    assert flow.response.headers["transfer-encoding"] == "chunked"
    assert not delivery.states.under_way()


async def test_a_refusal_in_place_of_the_answer_is_what_the_client_gets(delivery: ResponseDelivery) -> None:
    flow = answered(delivery.states, b"Dear Anna")
    flow.response = http.Response.make(200, PROTECTED)
    with taddons.context(delivery) as context:
        await context.master.addons.handle_lifecycle(HttpResponseHook(flow))
    flow.response = http.Response.make(502, PROTECTED)
    assert (await sent(flow))[1] == PROTECTED


def test_mitmproxy_makes_the_stream_that_is_replaced() -> None:
    assert "= HttpStream(ctx, stream_id)" in inspect.getsource(http_layers.HttpLayer.make_stream)


@pytest.mark.parametrize("known", [True, False])
async def test_an_answer_of_our_own_is_left_alone(delivery: ResponseDelivery, known: bool) -> None:
    flow = answered(delivery.states, None)
    if not known:
        delivery.states.remove(flow)
    assert (await sent(flow, delivery)) == (flow.response, PROTECTED)
