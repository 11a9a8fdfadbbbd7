"""A tunnel through another proxy opens once its destination was checked, and fails with a kind, not with quotations."""

from collections.abc import Callable, Iterator

import pytest
from mitmproxy import connection
from mitmproxy.flow import Error
from mitmproxy.options import Options
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import TCPLayer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import GetHttpConnection
from mitmproxy.proxy.layers.http._hooks import HttpConnectUpstreamHook
from mitmproxy.test import tflow

from addons.patches.outbound_tunnel import OutboundTunnel, ProxyAnsweredHook, RoutedStream, is_to_proxy, through_proxy
from gateway.http.upstream_failures import Fault

OPEN = b"HTTP/1.1 200 OK\r\n\r\n"


class Tunnel:
    """A tunnel that is opened by hand. `check` is what an addon does before CONNECT."""

    def __init__(self, host: str = "far.test", check: Callable[[HttpConnectUpstreamHook], None] | None = None) -> None:
        self.context = Context(tflow.tclient_conn(), Options())
        self.context.server = connection.Server(address=(host, 443))
        self.failed: list[Fault] = []
        self.layer = through_proxy(TCPLayer(self.context, ignore=True), ("http", ("p.test", 3128)), self.failed.append)
        self.check = check or self.pass_all
        self.sent: dict[str, bytes] = {"client": b"", "proxy": b""}
        self.closed: list[str] = []
        self.hooks: list[str] = []
        self.opening: commands.OpenConnection | None = None
        self.take(events.Start())

    def pass_all(self, hook: HttpConnectUpstreamHook) -> None:
        hook.flow.error = None

    def take(self, event: events.Event) -> None:
        for command in self.layer.handle_event(event):
            self.do(command)

    def do(self, command: commands.Command) -> None:
        if isinstance(command, commands.OpenConnection):
            self.opening = command
        elif isinstance(command, HttpConnectUpstreamHook):
            self.check(command)
            self.take(events.HookCompleted(command))
        elif isinstance(command, commands.StartHook):
            self.hooks.append(command.name)
        elif isinstance(command, commands.ConnectionCommand):
            name = "client" if command.connection is self.context.client else "proxy"
            if isinstance(command, commands.SendData):
                self.sent[name] += command.data
            elif isinstance(command, commands.CloseConnection):
                self.closed.append(name)
        else:
            raise AssertionError(command)

    @property
    def proxy(self) -> connection.Server:
        assert self.opening is not None
        assert isinstance(self.opening.connection, connection.Server)
        return self.opening.connection

    def connect(self, error: str | None = None) -> None:
        assert self.opening is not None
        if error is None:
            self.proxy.state = connection.ConnectionState.OPEN
        self.take(events.OpenConnectionCompleted(self.opening, error))

    def hear(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.take(events.DataReceived(self.proxy, piece))


@pytest.mark.parametrize("pieces", [(OPEN + b"SSH-2.0",), (OPEN[:9], OPEN[9:], b"SSH", b"-2.0")])
def test_bytes_that_follow_the_answer_reach_the_client(pieces: tuple[bytes, ...]) -> None:
    tunnel = Tunnel()
    tunnel.connect()
    assert tunnel.sent["proxy"].startswith(b"CONNECT far.test:443 HTTP/1.1\r\n")
    tunnel.hear(*pieces)
    tunnel.take(events.DataReceived(tunnel.context.client, b"ping"))
    assert tunnel.sent["client"] == b"SSH-2.0"
    assert tunnel.sent["proxy"].endswith(b"\r\n\r\nping")
    assert (tunnel.failed, tunnel.closed, tunnel.hooks) == ([], [], [ProxyAnsweredHook.name])
    assert is_to_proxy(tunnel.proxy)
    assert not is_to_proxy(tunnel.context.server)


ANSWERS: list[tuple[list[bytes], Fault]] = [
    ([b"HTTP/1.1 407 canary\r\n", b"X: canary\r\n\r\ncanary"], Fault.PROXY_CREDENTIALS),
    ([b"HTTP/1.1 403 canary\r\n\r\n"], Fault.PROXY_DENIED),
    ([b"HTTP/1.1 302 canary\r\n\r\n"], Fault.PROXY_FAILED),
    ([b"HTTP/1.1 502 canary\r\n\r\n"], Fault.PROXY_FAILED),
    ([b"canary\r\n\r\n"], Fault.PROXY_FAILED),
    ([b"\r\n"], Fault.PROXY_FAILED),
    ([b"X" * 40_000, b"X" * 40_000], Fault.PROXY_FAILED),
]


@pytest.mark.parametrize(("pieces", "fault"), ANSWERS)
def test_another_answer_ends_it_with_the_kind_of_fault(pieces: list[bytes], fault: Fault) -> None:
    tunnel = Tunnel()
    tunnel.connect()
    tunnel.hear(*pieces)
    assert tunnel.failed == [fault]
    assert sorted(tunnel.closed) == ["client", "proxy"]
    assert tunnel.sent["client"] == b""
    assert tunnel.hooks == [ProxyAnsweredHook.name]


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ("[Errno 111] Connect call failed ('192.0.2.7', 3128)", Fault.PROXY_UNREACHABLE),
        ("canary", Fault.PROXY_UNREACHABLE),
        ("Certificate verify failed: self-signed certificate", Fault.PROXY_TLS),
        ("The remote server does not speak TLS.", Fault.PROXY_TLS),
        ("own_listener", Fault.PROXY_IS_OURS),
        ("Connection killed: own_listener", Fault.PROXY_IS_OURS),
    ],
)
def test_a_proxy_that_cannot_be_reached_is_told_from_its_destination(error: str, fault: Fault) -> None:
    tunnel = Tunnel()
    tunnel.connect(error)
    assert tunnel.failed == [fault]
    assert tunnel.closed == ["client"]


def test_a_proxy_that_closes_before_it_answers() -> None:
    tunnel = Tunnel()
    tunnel.connect()
    tunnel.proxy.state = connection.ConnectionState.CLOSED
    tunnel.take(events.ConnectionClosed(tunnel.proxy))
    assert tunnel.failed == [Fault.PROXY_UNREACHABLE]


@pytest.mark.parametrize("allowed", [True, False])
def test_for_plain_http_the_destination_is_checked_and_the_proxy_is_not_asked(allowed: bool) -> None:
    tunnel = Tunnel(check=None if allowed else refuse)
    opener = next(each for each in tunnel.context.layers if isinstance(each, OutboundTunnel))
    opener.is_tunnel = False
    tunnel.connect()
    tunnel.take(events.DataReceived(tunnel.context.client, b"ping"))
    assert tunnel.sent["proxy"] == (b"ping" if allowed else b"")
    assert (tunnel.failed, tunnel.hooks) == ([] if allowed else [Fault.PRIVATE], [ProxyAnsweredHook.name])


def keep(_: HttpConnectUpstreamHook) -> None:
    """As a hook that fails does."""


def refuse(hook: HttpConnectUpstreamHook) -> None:
    hook.flow.error = Error(Fault.PRIVATE.kind)


@pytest.mark.parametrize(
    ("host", "check", "fault"),
    [
        ("far.test", refuse, Fault.PRIVATE),
        ("far.test", keep, Fault.UNKNOWN),
        ("a" * 64 + ".test", None, Fault.UNRESOLVED),
        ("a..test", None, Fault.UNRESOLVED),
    ],
)
def test_nothing_is_asked_for_what_was_not_allowed(
    host: str, check: Callable[[HttpConnectUpstreamHook], None] | None, fault: Fault
) -> None:
    tunnel = Tunnel(host, check)
    tunnel.connect()
    assert tunnel.sent == {"client": b"", "proxy": b""}
    assert tunnel.failed == [fault]
    assert sorted(tunnel.closed) == ["client", "proxy"]


@pytest.mark.parametrize("via", [("http", ("p.test", 3128)), None])
def test_each_flow_is_forwarded_on_its_way(via: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoutedStream, "via", staticmethod(lambda _: via), raising=False)
    flow = tflow.tflow()
    flow.server_conn = connection.Server(address=("old.test", 1), via=("http", ("old.test", 2)))
    stream = RoutedStream(Context(flow.client_conn, Options()), 1)
    stream.flow = flow
    asking: Iterator[commands.Command] = stream.make_server_connection()
    asked = next(asking)
    assert isinstance(asked, GetHttpConnection)
    assert asked.via == via
    assert isinstance(stream, http_layers.HttpStream)
    assert isinstance(stream, layer.Layer)
