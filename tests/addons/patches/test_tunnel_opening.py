"""CONNECT and SOCKS5 are answered once the tunnel is open, with the reason if it cannot be opened."""

from collections.abc import Iterator
from typing import Any

import pytest
from mitmproxy import connection, http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import TCPLayer, modes
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import HTTPMode
from mitmproxy.test import taddons, tflow

from addons.patches.tunnel_opening import OpeningSocks, OpeningStream, Way, open_tunnels
from gateway.http.upstream_failures import Fault

CONNECT = b"CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\n\r\n"
SOCKS = b"\x05\x01\x00\x03\x08far.test\x01\xbb"
VIA = Way(("http", ("p.test", 3128)))
OPEN = b"HTTP/1.1 200 OK\r\n\r\n"


class Proxy:
    """A connection to the proxy, driven by hand. Its tunnels are opened as `way` says, and passed untouched."""

    def __init__(self, of: context.Context) -> None:
        self.context = of
        self.way: Way | None = Way(None)
        self.failed: list[Fault | None] = []
        self.sent: dict[object, bytes] = {}
        self.closed: set[object] = set()
        self.opening: list[commands.OpenConnection] = []
        self.wakeups: list[commands.RequestWakeup] = []
        open_tunnels(self._way, self._fail, lambda _: self.way == Way(None), lambda _, fault: self.failed.append(fault))

    def begin(self, top: layer.Layer) -> None:
        self.top = top
        self.take(events.Start())

    def _way(self, _: http.HTTPFlow) -> Way | None:
        return self.way

    def _fail(self, flow: http.HTTPFlow, fault: Fault | None) -> None:
        self.failed.append(fault)
        flow.response = http.Response.make(502, fault.kind if fault else "", {"connection": "close"})

    def take(self, event: events.Event) -> None:
        for command in self.top.handle_event(event):
            self._do(command)

    def _do(self, command: commands.Command) -> None:
        if isinstance(command, commands.OpenConnection):
            self.opening.append(command)
        elif isinstance(command, commands.RequestWakeup):
            self.wakeups.append(command)
        elif isinstance(command, commands.StartHook):
            if isinstance(command, layer.NextLayerHook):
                command.data.layer = TCPLayer(command.data.context, ignore=True)
            if command.name == "http_connect_upstream":
                vars(command)["flow"].error = None
            if command.blocking:
                self.take(events.HookCompleted(command))
        elif isinstance(command, commands.SendData):
            self.sent[command.connection] = self.sent.get(command.connection, b"") + command.data
        elif isinstance(command, commands.CloseConnection):
            self.closed.add(command.connection)

    @property
    def server(self) -> connection.Server:
        assert isinstance(self.opening[0].connection, connection.Server)
        return self.opening[0].connection

    @property
    def answer(self) -> bytes:
        return self.sent.get(self.context.client, b"")

    def hear(self, data: bytes, of: connection.Connection | None = None) -> None:
        self.take(events.DataReceived(of or self.context.client, data))

    def connect(self, error: str | None = None) -> None:
        if error is None:
            self.server.state, self.server.timestamp_start = connection.ConnectionState.OPEN, 1.0
        self.take(events.OpenConnectionCompleted(self.opening[0], error))


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    for module, name in ((http_layers, "HttpStream"), (modes, "Socks5Proxy")):
        monkeypatch.setattr(module, name, getattr(module, name))
    monkeypatch.setattr(OpeningStream, "answers", {}, raising=False)
    with taddons.context(Proxyserver()) as running:
        running.options.connection_strategy = "lazy"
        client = tflow.tclient_conn()
        client.state, client.alpn = connection.ConnectionState.OPEN, b"http/1.1"
        yield Proxy(context.Context(client, running.options))


@pytest.fixture
def http_proxy(proxy: Proxy) -> Proxy:
    proxy.begin(http_layers.HttpLayer(proxy.context, HTTPMode.regular))
    return proxy


@pytest.fixture
def socks(proxy: Proxy) -> Proxy:
    top: Any = modes
    proxy.begin(top.Socks5Proxy(proxy.context))
    assert isinstance(proxy.top, OpeningSocks)
    proxy.hear(b"\x05\x01\x00")
    proxy.sent.clear()
    return proxy


@pytest.mark.parametrize("first", ["client", "server"])
def test_connect_is_answered_once_the_tunnel_is_open(http_proxy: Proxy, first: str) -> None:
    http_proxy.hear(CONNECT)
    assert http_proxy.answer == b""
    assert http_proxy.server.address == ("far.test", 443)
    http_proxy.connect()
    assert http_proxy.answer.startswith(b"HTTP/1.1 200 ")
    if first == "client":
        http_proxy.hear(b"ping")
    http_proxy.hear(b"greeting", http_proxy.server)
    http_proxy.take(events.Wakeup(http_proxy.wakeups[0]))
    http_proxy.hear(b"pong")
    assert http_proxy.answer.endswith(b"\r\n\r\ngreeting")
    assert http_proxy.sent[http_proxy.server] == (b"pingpong" if first == "client" else b"pong")
    assert (len(http_proxy.opening), http_proxy.failed, http_proxy.closed) == (1, [], set())


def test_what_the_client_sends_too_early_is_not_lost(http_proxy: Proxy) -> None:
    http_proxy.hear(CONNECT + b"early")
    http_proxy.connect()
    assert http_proxy.sent[http_proxy.server] == b"early"


def test_a_tunnel_through_another_proxy_is_answered_after_that_one(http_proxy: Proxy) -> None:
    http_proxy.way = VIA
    http_proxy.hear(CONNECT)
    assert http_proxy.server.address == ("p.test", 3128)
    http_proxy.connect()
    assert http_proxy.answer == b""
    assert http_proxy.sent[http_proxy.server].startswith(CONNECT[:20])
    http_proxy.hear(OPEN + b"greeting", http_proxy.server)
    http_proxy.hear(b"ping")
    assert http_proxy.answer.endswith(b"\r\n\r\ngreeting")
    assert http_proxy.sent[http_proxy.server].endswith(b"\r\n\r\nping")


@pytest.mark.parametrize(
    ("way", "error", "said", "fault"),
    [
        (Way(None), "[Errno 111] canary", b"", Fault.REFUSED),
        (Way(None), "own_listener", b"", Fault.OWN_LISTENER),
        (VIA, "[Errno 111] canary", b"", Fault.PROXY_UNREACHABLE),
        (VIA, None, b"HTTP/1.1 403 canary\r\n\r\n", Fault.PROXY_DENIED),
    ],
)
def test_a_tunnel_that_cannot_be_opened_is_refused_with_the_fault(
    http_proxy: Proxy, way: Way, error: str | None, said: bytes, fault: Fault
) -> None:
    http_proxy.way = way
    http_proxy.hear(CONNECT + b"early")
    http_proxy.connect(error)
    if said:
        http_proxy.hear(said, http_proxy.server)
    http_proxy.take(events.Wakeup(http_proxy.wakeups[0]))
    assert http_proxy.failed == [fault]
    assert http_proxy.answer.startswith(b"HTTP/1.1 502 ")
    assert http_proxy.answer.endswith(b"\r\n\r\n" + fault.kind.encode())
    assert http_proxy.context.client in http_proxy.closed


def test_opening_ends_in_time(http_proxy: Proxy) -> None:
    http_proxy.hear(CONNECT)
    http_proxy.take(events.Wakeup(http_proxy.wakeups[0]))
    http_proxy.connect()
    assert http_proxy.failed == [Fault.TIMED_OUT]
    assert http_proxy.answer.count(b"HTTP/1.1 ") == 1


def test_a_client_that_goes_gets_no_tunnel(http_proxy: Proxy) -> None:
    http_proxy.hear(CONNECT)
    http_proxy.context.client.state = connection.ConnectionState.CLOSED
    http_proxy.take(events.ConnectionClosed(http_proxy.context.client))
    http_proxy.connect()
    assert (http_proxy.failed, http_proxy.answer) == ([None], b"")


def test_other_tunnels_are_answered_at_once(http_proxy: Proxy) -> None:
    http_proxy.way = None
    http_proxy.hear(CONNECT)
    assert http_proxy.answer.startswith(b"HTTP/1.1 200 ")
    assert not http_proxy.opening


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, 0), ("[Errno 111] canary", 5), ("[Errno 101] canary", 3), ("private_destination", 2), ("?", 4)],
)
def test_socks5_is_answered_with_the_code(socks: Proxy, error: str | None, code: int) -> None:
    socks.hear(SOCKS)
    assert socks.answer == b""
    socks.connect(error)
    assert socks.answer == bytes([5, code]) + b"\x00\x01\x00\x00\x00\x00\x00\x00"
    assert (socks.context.client in socks.closed, len(socks.failed)) == (bool(code), int(bool(code)))


def test_other_socks5_tunnels_are_answered_at_once(socks: Proxy) -> None:
    socks.way = VIA
    socks.hear(SOCKS)
    assert socks.answer == b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
    assert not socks.opening
