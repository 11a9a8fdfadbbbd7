"""The readers of HTTP/1 messages, and that mitmproxy still calls them where they replace its own."""

import ast
import inspect
from types import SimpleNamespace
from typing import Any, cast

import h11
import pytest
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.test import taddons, tflow

from addons.patches.connection_limits import Clients
from addons.patches.head_limits import BoundedBuffer, BoundedChunks, MessageLimits, PrefaceLimit

LIMITS = MessageLimits(head_bytes=200, head_lines=4, body_bytes=1000)
TCP = cast(Any, SimpleNamespace(client=SimpleNamespace(transport_protocol="tcp")))


def test_the_replaced_classes_are_those_mitmproxy_makes() -> None:
    """By name, from the globals of one module."""
    made = [
        node.func.id
        for node in ast.walk(ast.parse(inspect.getsource(http_layers)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("Http1")
    ]
    assert sorted(made) == ["Http1Client", "Http1Client", "Http1Server"]


def test_the_overridden_methods_are_those_that_read() -> None:
    assert "self.buf = ReceiveBuffer()" in inspect.getsource(_http1.Http1Connection.__init__)
    for reader in (_http1.Http1Server, _http1.Http1Client):
        source = inspect.getsource(reader.read_headers)
        assert "self.buf.maybe_extract_lines()" in source
        assert "self.state = self.read_body" in source
    assert "self.body_reader(self.buf)" in inspect.getsource(_http1.Http1Connection.read_body)
    assert "ErrorCode.KILL" in inspect.getsource(http_layers.HttpStream.check_killed)


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 4 + b"\r\n", False),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5 + b"\r\n", True),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 200 + b"\r\n\r\n", True),
        (b"G" * 200, False),
        (b"G" * 201, True),
    ],
)
def test_a_head_within_the_limits(data: bytes, refused: bool) -> None:
    buffer = BoundedBuffer(LIMITS)
    buffer += data
    if refused:
        with pytest.raises(h11.RemoteProtocolError):
            buffer.maybe_extract_lines()
    else:
        buffer.maybe_extract_lines()


def test_chunks_and_their_trailers() -> None:
    buffer, reader = BoundedBuffer(LIMITS), BoundedChunks()
    buffer += b"2\r\nab\r\n3;x=y\r\ncde\r\n0\r\nX: 1\r\n\r\n"
    said = b""
    while not isinstance(part := reader(buffer), h11.EndOfMessage):
        said += part.data
    assert (said, list(part.headers)) == (b"abcde", [])


@pytest.mark.parametrize(
    ("pieces", "closed"),
    [
        ([b"a" * 65536], False),
        ([b"a" * 65537], True),
        ([b"a"] * 256, False),
        ([b"a"] * 257, True),
    ],
    ids=["bytes", "too-many-bytes", "pieces", "too-many-pieces"],
)
def test_a_connection_of_an_unknown_protocol_is_closed_at_a_limit(pieces: list[bytes], closed: bool) -> None:
    client = tflow.tclient_conn()
    with taddons.context() as context:
        undecided = layer.NextLayer(Context(client, context.options))
        undecided.events = [events.DataReceived(client, piece) for piece in pieces]
        PrefaceLimit(Clients()).next_layer(undecided)
    assert (undecided.layer is not None) is closed
    if undecided.layer is not None:
        (command,) = undecided.layer.handle_event(events.Start())
        assert isinstance(command, commands.CloseConnection)
        assert command.connection is client
