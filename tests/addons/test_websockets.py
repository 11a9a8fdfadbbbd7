"""A message is released only once it was protected for the connection that it came on."""

import gc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from mitmproxy import exceptions, http
from mitmproxy.test import taddons

from addons.fail_closed import DEAD_END
from addons.websockets import WebSocket, WebSockets
from gateway.exchange.messages import ForwardedRequest
from gateway.http.upstream_failures import Fault
from tests.addons.protected_flows import KEY, RECEIPT, SECRET, Bench
from tests.addons.test_websocket_handshake import FIELDS, agreed

URL = "https://api.example/v1/responses"
OPENED = ForwardedRequest(URL, [(b"authorization", SECRET)], b"")
PROTECTED = ForwardedRequest(URL, [(b"authorization", SECRET)], b'{"a":1}', RECEIPT, True)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with taddons.context():
        yield Bench()


async def opened(bench: Bench) -> tuple[WebSockets, WebSocket, http.HTTPFlow]:
    bench.gateway.results["open"] = OPENED
    fields = [KEY, *((name.encode(), value.encode()) for name, value in FIELDS.items())]
    flow = bench.flow(path=b"/v1/responses?a=b")
    flow.request.method = "GET"
    flow.request.headers = http.Headers([*fields, (b"x-canary", b"1"), (b"accept-encoding", b"gzip")])
    await bench.after("requestheaders", "request", flow=flow)
    handshake = bench.state(flow).handshake
    assert handshake is not None
    sockets: Any = bench.protect
    flow.response = agreed(handshake)
    flow.response.headers["sec-websocket-accept"] = _accept_of(flow)
    with suppress(exceptions.AddonHalt):
        await bench.protect.responseheaders(flow)
        await bench.protect.response(flow)
    socket = sockets._sockets.take(flow)
    assert socket is not None
    return sockets._sockets, socket, flow


def _accept_of(flow: http.HTTPFlow) -> str:
    from addons.websocket_handshake import _accept

    return _accept(flow.request.headers["sec-websocket-key"].encode())


async def test_a_message_has_the_head_of_its_connection(bench: Bench) -> None:
    sockets, socket, opening = await opened(bench)
    assert sockets.take(opening) is None
    flow = sockets.request(socket, b"canary", 5.0)
    state = bench.state(flow)
    assert (flow.request.data.host, flow.request.data.port) == DEAD_END
    assert (flow.request.path, flow.request.method, state.connection) == ("/v1/responses?a=b", "POST", socket.id)
    assert KEY in state.headers.fields
    assert "svck" not in str(flow.request.headers)
    names = {name.lower() for name in state.headers}
    assert not {"upgrade", "connection", "sec-websocket-key", "accept-encoding"} & names
    assert state.call(flow, b"", editable=False).connection == socket.id


async def test_only_what_was_protected_is_released(bench: Bench) -> None:
    sockets, socket, _ = await opened(bench)
    bench.gateway.results["open"] = PROTECTED
    flow = sockets.request(socket, b"canary", 5.0)
    assert sockets.released(socket, flow) is None
    await bench.after("request", flow=flow)
    assert sockets.released(socket, flow) == b'{"a":1}'
    for break_it in (
        lambda each: setattr(each, "response", http.Response.make(500)),
        lambda each: setattr(each.request.data, "host", "other.example"),
        lambda each: setattr(each.request.data, "path", b"/v1/files"),
        bench.states.remove,
        lambda each: setattr(each.request, "headers", http.Headers()),
        lambda each: setattr(bench.state(each), "cleared", False),
    ):
        flow = sockets.request(socket, b"canary", 5.0)
        await bench.after("request", flow=flow)
        break_it(flow)
        assert sockets.released(socket, flow) is None


async def test_the_gateway_forgets_a_connection_that_has_ended(bench: Bench) -> None:
    _, socket, flow = await opened(bench)
    socket.ended()
    assert bench.gateway.told == [("disconnected", False)]
    del socket, flow, _
    gc.collect()
    assert ("disconnected", False) in bench.gateway.told


async def test_an_upstream_that_leaves_is_at_fault_unless_it_was_late(bench: Bench) -> None:
    sockets, socket, _ = await opened(bench)
    flow = sockets.request(socket, b"canary", 5.0)
    for known, found in ((None, Fault.CLOSED), (Fault.TIMED_OUT, Fault.TIMED_OUT)):
        bench.state(flow).fault = known
        sockets.upstream_left(flow)
        assert bench.state(flow).fault is found
    bench.states.remove(flow)
    sockets.upstream_left(flow)
    assert not sockets.closing
