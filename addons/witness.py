"""Tells `inspect` what leaves a gateway that it has started: each request as it is about to be sent, how it ended, and
every connection to another host that carried no protected request.

Only the process that started this gateway is told. Nothing is logged or written to a file.
"""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable
from time import time
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from mitmproxy import connection, ctx, http
from mitmproxy.net.http.url import parse_authority
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from mitmproxy.tls import TlsData

from addons.credentials import SealedHeaders
from addons.fail_closed import fail_closed
from addons.flow_copies import code_of
from addons.flow_state import FlowState, FlowStates
from addons.forwarding import was_sent
from addons.request_log import Line
from gateway.errors import GatewayError

type Refuse = Callable[[http.HTTPFlow, GatewayError], None]
type Tell = Callable[[dict[str, Any]], None]
"""Takes an event, which JSON can hold. If it raises, the request is not sent."""


class Observer(NamedTuple):
    """Gets the events, with answers if it wants them."""

    tell: Tell
    keeps_answers: bool = False


class CountingStream:
    """Counts what is written to and read from a connection; all else is the stream's own."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.bytes = 0

    def write(self, data: bytes) -> None:
        self.bytes += len(data)
        self._stream.write(data)

    async def read(self, limit: int) -> bytes:
        data: bytes = await self._stream.read(limit)
        self.bytes += len(data)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Opened:
    """A connection to another host."""

    def __init__(self, address: tuple[str, int], written: CountingStream, read: CountingStream) -> None:
        self.address = address
        self.written = written
        self.read = read


class Witness:
    """The addon, which runs last, so that a request it sees is the one that is sent."""

    def __init__(self, observer: Observer, states: FlowStates, refused: Refuse) -> None:
        self._tell, self._keeps_answers = observer
        self._states = states
        self.refused = refused
        # By client: where protected requests went, and the connections that were opened for it.
        self._protected: WeakKeyDictionary[connection.Client, set[tuple[str, int]]] = WeakKeyDictionary()
        self._opened: dict[connection.Client, dict[connection.Server, _Opened]] = defaultdict(dict)

    def running(self) -> None:
        servers = ctx.master.addons.get("proxyserver").servers
        self._tell({"event": "ready", "ports": [address[1] for each in servers for address in each.listen_addrs[:1]]})

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None or state.forwarded is None:
            return
        request, headers = flow.request, flow.request.headers
        address = (request.data.host, request.data.port)
        self._protected.setdefault(flow.client_conn, set()).add(address)
        self._tell(
            {
                "event": "sending",
                "request_id": state.request_id,
                "time": time(),
                "method": request.method,
                "scheme": request.scheme,
                "host": address[0],
                "port": address[1],
                "path": request.path,
                "headers": _text(headers.fields),
                "credentials": _text(headers.sealed if isinstance(headers, SealedHeaders) else ()),
                "body": _packed(request.raw_content),
                "wire": state.wire.id if state.wire else None,
                "placeholders": list(state.forwarded.placeholders),
            }
        )

    def ended(self, flow: http.HTTPFlow, state: FlowState, line: Line) -> None:
        """Takes the line that the log has for a request."""
        answered = self._keeps_answers and state.upstream_status is not None
        response = flow.response if answered else None
        host, port, _ = state.target
        event = {"event": "ended", "line": line, "host": host, "port": port, "sent": was_sent(flow.request)}
        self._tell({**event, "answer": _packed(response.raw_content if response is not None else b"")})

    def http_connect_error(self, flow: http.HTTPFlow) -> None:
        code = code_of(flow.response) if flow.response is not None else None
        # A refused tunnel has lost its destination.
        host, port = parse_authority(flow.request.host_header or "", check=False)
        self._tell({"event": "refused", "host": host, "port": port, "code": code})

    def tls_failed_client(self, data: TlsData) -> None:
        self._tell({"event": "untrusted", "host": data.conn.sni or (data.context.server.address or ("",))[0]})

    def server_connected(self, data: ServerConnectionHookData) -> None:
        streams = ctx.master.addons.get("proxyserver").connections[data.client.id].transports[data.server]
        streams.writer, streams.reader = CountingStream(streams.writer), CountingStream(streams.reader)
        host, port = (data.server.address or ("", 0))[:2]
        self._opened[data.client][data.server] = _Opened((host, port), streams.writer, streams.reader)

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """Names the host that an outbound proxy is asked for."""
        if isinstance(flow.server_conn, connection.Server):
            opened = self._opened[flow.client_conn].get(flow.server_conn)
            if opened is not None:
                opened.address = (flow.request.host, flow.request.port)

    def client_disconnected(self, client: connection.Client) -> None:
        protected = self._protected.get(client, set())
        for each in self._opened.pop(client, {}).values():
            if each.address not in protected:
                host, port = each.address
                event = {"event": "tunnel", "host": host, "port": port}
                self._tell({**event, "sent": each.written.bytes, "received": each.read.bytes})

    def done(self) -> None:
        for client in list(self._opened):
            self.client_disconnected(client)
        self._tell({"event": "end"})


def _text(fields: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in fields]


def _packed(body: bytes | None) -> str:
    return b64encode(body or b"").decode()
