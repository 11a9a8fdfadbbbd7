"""Holds programs that `exec --contain` runs to the hosts that the proxy decrypts, and those in `contained_hosts`.

Of the gateway's own listener they reach the calls of models alone. `ConnectionAddresses` refuses them private
destinations that are not listed themselves.
"""

from collections.abc import Callable

from mitmproxy import connection, http
from mitmproxy.proxy import layer
from mitmproxy.proxy.layers import TCPLayer, UDPLayer
from mitmproxy.proxy.mode_specs import ReverseMode

from addons.fail_closed import end_connection, fail_closed
from addons.patches.connection_limits import Clients
from addons.patches.first_bytes import host_names
from addons.request_log import RequestLog
from addons.unprotected_tunnels import Refused
from gateway.config.contained_programs import CONTAINED_ADDRESS
from gateway.config.host_patterns import HostMatcher
from gateway.errors import Forbidden, GatewayError
from gateway.wires.base import Wires

_CODE = "contained_program"
_MODELS = "/v1/models"
_HEALTH = frozenset({"/healthz", "/livez", "/readyz"})


def is_contained(client: connection.Client) -> bool:
    """Tells whether a connection is that of a contained program."""
    return bool(client.peername) and client.peername[0] == CONTAINED_ADDRESS


class ContainedPrograms:
    """The addon for what a client asks for. `hosts` are those that the settings list, besides the decrypted ones."""

    def __init__(
        self, hosts: HostMatcher, intercepts: Callable[[str, int], bool], clients: Clients, log: RequestLog
    ) -> None:
        self.hosts = hosts
        self._intercepts = intercepts
        self._clients = clients
        self._log = log
        self._wires = Wires.discover()

    @fail_closed
    async def http_connect(self, flow: http.HTTPFlow) -> None:
        if is_contained(flow.client_conn):
            self._check(flow.request.host, flow.request.port)

    @fail_closed
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        if not is_contained(flow.client_conn) or not flow.live or flow.error is not None:
            return
        request = flow.request
        if not isinstance(flow.client_conn.proxy_mode, ReverseMode):
            for name in (request.host, request.pretty_host):
                self._check(name, request.port)
            return
        path = request.path.partition("?")[0]
        reads = request.method in ("GET", "HEAD") and (path in _HEALTH or f"{path}/".startswith(f"{_MODELS}/"))
        if not reads and self._wires.serving(request.method, path) is None:
            raise Forbidden(
                "Contained programs call models, and reach nothing else of the gateway. Make this call outside, without"
                " `--contain`.",
                code=_CODE,
            )

    def _check(self, host: str, port: int) -> None:
        if not self._intercepts(host, port) and not self.hosts(host, port):
            raise Forbidden(
                "Nothing was sent: this program is contained, and reaches intercepted hosts alone. To let it reach this"
                " one in an unprotected tunnel, add it to the setting `contained_hosts`.",
                code=_CODE,
            )

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Ends the connection without reading a body; called by `fail_closed`."""
        end_connection(flow, error, self._log)
        if flow.request.method != "CONNECT":
            self._clients.answer_at_once(flow)


class ContainedTunnels:
    """The addon for what a connection turns out to be. It runs after mitmproxy has decided what to do with one."""

    def __init__(self, hosts: HostMatcher, log: RequestLog) -> None:
        self._hosts = hosts
        self._log = log

    def next_layer(self, data: layer.NextLayer) -> None:
        tunnel, address = data.layer, data.context.server.address
        if not isinstance(tunnel, TCPLayer | UDPLayer) or address is None or not is_contained(data.context.client):
            return
        # After a hook that failed, mitmproxy waits for more data instead of opening the tunnel.
        data.layer = None
        if all(self._hosts(name, address[1]) for name in host_names(data)):
            data.layer = tunnel
        else:
            self._log.cut(data.context.client, _CODE)
            data.layer = Refused(data.context)
