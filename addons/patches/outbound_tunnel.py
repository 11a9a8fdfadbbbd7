"""Opens connections through another proxy, and says why one could not be opened.

TLS and untouched tunnels are opened with CONNECT. For plain HTTP, the proxy is not asked: it gets the requests
(`absolute_form`).

mitmproxy's own class passes on what the proxy answers, to the log as to the client; reads any amount of it; sends
CONNECT without asking whether an addon objects; and delivers bytes that follow the proxy's answer at once, as the
greeting of an SSH server does, to a layer that is not ready for them. mitmproxy uses it for an HTTP flow whose
`server_conn.via` is set, but has no hook that every such flow passes, and never for an untouched tunnel.

Upstream would have to let `http_connect_upstream` refuse with an error, report the status of the proxy's answer, and
have a hook for the way to a server, and to use the absolute form outside of its upstream mode.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakSet

from mitmproxy import connection, http
from mitmproxy.connection import ConnectionState
from mitmproxy.flow import Error
from mitmproxy.net.http import http1
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import _upstream_proxy
from mitmproxy.proxy.layers.http._hooks import HttpConnectUpstreamHook
from mitmproxy.proxy.server_hooks import ServerConnectionHookData

from addons.patches.absolute_form import ProxiedClient, send_absolute
from addons.patches.response_delivery import DeliveringStream
from addons.upstream_faults import fault_in
from gateway.http.upstream_failures import Fault, of_proxy, of_proxy_status

CHECKED_WITH = "12.2.3"

_MOST_BYTES = 64 * 1024
_to_proxies: WeakSet[connection.Server] = WeakSet()

type Via = tuple[Any, tuple[str, int]]


def is_to_proxy(server: connection.Server) -> bool:
    """Tells whether a connection is to another proxy, through which a client is to reach its destination."""
    return server in _to_proxies


@dataclass
class ProxyAnsweredHook(commands.StartHook):
    """Another proxy has answered CONNECT, or never will."""

    data: ServerConnectionHookData
    blocking = False


class OutboundTunnel(_upstream_proxy.HttpUpstreamProxy):
    """A connection through another proxy. `failed` is called with the reason if it cannot be opened.

    With `is_tunnel`, CONNECT is sent for a connection without TLS, too.
    """

    failed: Callable[[Fault], None] | None = None
    is_tunnel: bool = False

    def __init__(self, ctx: context.Context, tunnel_conn: connection.Server, send_connect: bool) -> None:
        super().__init__(ctx, tunnel_conn, send_connect)
        self._fault: Fault | None = None
        self._early = b""
        _to_proxies.add(tunnel_conn)

    def start_handshake(self) -> layer.CommandGenerator[None]:
        if not self.send_connect:
            yield from super().start_handshake()
            return
        assert self.conn.address
        try:
            self.conn.address[0].encode("idna")
        except UnicodeError:
            yield from self._refuse(Fault.UNRESOLVED)
            return
        error: Error | None = None
        authorization: str | None = None
        for command in super().start_handshake():
            if isinstance(command, commands.SendData) and error is not None:
                yield from self._refuse(fault_in(error.msg))
                return
            if isinstance(command, commands.SendData) and not (self.is_tunnel or self.conn.tls):
                send_absolute(self.conn, authorization)
                self.send_connect = False
                yield from super().start_handshake()
                return
            if isinstance(command, HttpConnectUpstreamHook):
                # The addon that checks the destination removes it; one that fails does not.
                command.flow.error = Error(Fault.UNKNOWN.kind)
            yield command
            if isinstance(command, HttpConnectUpstreamHook):
                error = command.flow.error
                authorization = command.flow.request.headers.get("proxy-authorization")

    def receive_handshake_data(self, data: bytes) -> layer.CommandGenerator[tuple[bool, str | None]]:
        if not self.send_connect:
            return (yield from super().receive_handshake_data(data))
        self.buf += data
        lines = self.buf.maybe_extract_lines()
        if lines is None:
            self._fault = Fault.PROXY_FAILED if len(self.buf) > _MOST_BYTES else None
        else:
            self._fault = _of_head([bytes(line) for line in lines])
            self._early = bytes(self.buf)
        if self._fault is not None:
            return False, self._fault.kind
        return lines is not None, None

    def event_to_child(self, event: events.Event) -> layer.CommandGenerator[None]:
        if (
            isinstance(event, events.OpenConnectionCompleted)
            and event.reply
            and event.command is self.command_to_reply_to
        ):
            fault = self._fault or of_proxy(fault_in(event.reply))
            if self.failed is not None:
                self.failed(fault)
            event = events.OpenConnectionCompleted(event.command, fault.kind)
        yield from super().event_to_child(event)

    def _handshake_finished(self, err: str | None) -> layer.CommandGenerator[None]:
        assert isinstance(self.tunnel_connection, connection.Server)
        yield ProxyAnsweredHook(ServerConnectionHookData(self.tunnel_connection, self.context.client))
        yield from super()._handshake_finished(err)
        early, self._early = self._early, b""
        if early and not err:
            yield from self.receive_data(early)

    def _refuse(self, fault: Fault) -> layer.CommandGenerator[None]:
        """Ends the connection to the proxy before it is asked for anything."""
        self._fault = fault
        self.conn.state = ConnectionState.CLOSED
        yield from self.on_handshake_error(fault.kind)
        yield from self._handshake_finished(fault.kind)


class RoutedStream(DeliveringStream):
    """Has `via` choose the proxy of each flow that is about to be forwarded, None for a direct connection."""

    via: ClassVar[Callable[[http.HTTPFlow], Via | None]]

    def make_server_connection(self) -> layer.CommandGenerator[bool]:
        via = type(self).via(self.flow)
        if self.flow.server_conn.connected and self.flow.server_conn.via != via:
            # Opened for a tunnel that turned out to be decrypted, and another way than that of its requests.
            self.flow.server_conn = connection.Server(address=self.flow.server_conn.address)
        self.flow.server_conn.via = via
        return (yield from super().make_server_connection())


def route_streams(via: Callable[[http.HTTPFlow], Via | None]) -> None:
    """Has every HTTP flow of this process take its way. Comes after `ResponseDelivery.install` and `bound_messages`."""
    RoutedStream.via = staticmethod(via)
    replaced: Any = http_layers
    replaced.HttpStream = RoutedStream
    replaced.Http1Client = ProxiedClient
    module: Any = _upstream_proxy
    module.HttpUpstreamProxy = OutboundTunnel


def through_proxy(tunnel: layer.Layer, via: Via, failed: Callable[[Fault], None] | None = None) -> layer.Layer:
    """Returns a layer that opens the server connection of a `tunnel` through a proxy."""
    tunnel.context.server.via = via
    stack = OutboundTunnel.make(tunnel.context, send_connect=True)
    opener = next(each for each in stack._stack if isinstance(each, OutboundTunnel))
    opener.failed, opener.child_layer, opener.is_tunnel = failed, tunnel, True
    return stack[0]


def _of_head(lines: list[bytes]) -> Fault | None:
    try:
        return of_proxy_status(http1.read_response_head(lines).status_code)
    except (ValueError, IndexError):
        return Fault.PROXY_FAILED
