"""Has connections to other hosts opened, through the outbound proxy of the settings if there is one.

HTTP flows of both listeners take the proxy of their upstream or host; so do untouched tunnels, once
`UnprotectedTunnels` lets them pass. A tunnel to a name is opened before the client gets its answer; one to an address
is not, because its first bytes may name a host that is intercepted or refused. UDP cannot take a proxy and is refused,
so that clients fall back to TCP.
"""

from collections.abc import Callable
from functools import partial

from mitmproxy import connection, http
from mitmproxy.proxy import context, layer
from mitmproxy.proxy.layers import TCPLayer, UDPLayer
from mitmproxy.proxy.mode_specs import UpstreamMode

from addons.flow_state import FlowStates
from addons.logs import RareWarnings
from addons.mitm_errors import answer_with
from addons.patches.connection_limits import Clients, Phase
from addons.patches.outbound_tunnel import Via, route_streams, through_proxy
from addons.patches.tunnel_opening import Way, open_tunnels
from addons.request_log import RequestLog
from addons.unprotected_tunnels import Refused
from gateway.config.outbound_proxy import OutboundProxies, OutboundProxy
from gateway.config.private_destinations import address_of
from gateway.http.upstream_failures import Fault
from gateway.ids import new_request_id


class OutboundProxying:
    """The addon. It runs after `UnprotectedTunnels`, which tells the tunnels apart that pass.

    `passes` tells whether a tunnel to a host and port is neither decrypted nor refused by its name.
    """

    def __init__(
        self,
        proxies: OutboundProxies,
        states: FlowStates,
        log: RequestLog,
        clients: Clients,
        passes: Callable[[str, int], bool],
    ) -> None:
        self.proxies = proxies
        self._states = states
        self._log = log
        self._clients = clients
        self._passes = passes
        self._warnings = RareWarnings()

    def install(self) -> None:
        """Routes every connection of this process."""
        route_streams(self.via)
        open_tunnels(self._way, self._answer_failed, self._opens_socks, self._socks_failed)

    def done(self) -> None:
        self._warnings.flush(at_once=True)

    def via(self, flow: http.HTTPFlow) -> Via | None:
        """Returns the way to the host that a flow is forwarded to. A mode may have a proxy of its own."""
        if isinstance(flow.client_conn.proxy_mode, UpstreamMode):
            return flow.server_conn.via
        state = self._states.of(flow)
        upstream = state.forwarded.upstream if state is not None and state.forwarded is not None else ""
        return _via(self.proxies.route(flow.request.host, flow.request.port, upstream))

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """Adds the proxy's credentials to CONNECT. This flow is the connection's own, and no other addon keeps it."""
        address = flow.server_conn.address
        proxy = self.proxies.at((address[0], address[1])) if address is not None else None
        if proxy is not None and proxy.authorization is not None:
            flow.request.headers["proxy-authorization"] = proxy.authorization

    def next_layer(self, data: layer.NextLayer) -> None:
        tunnel, address = data.layer, data.context.server.address
        if not isinstance(tunnel, TCPLayer | UDPLayer) or address is None:
            return
        if isinstance(data.context.client.proxy_mode, UpstreamMode):
            return
        if data.context.server.timestamp_start is not None:
            # Opened before the client got its answer.
            self._clients.mark(self._clients.of(data.context.client), Phase.TUNNEL)
            return
        # After a hook that failed, mitmproxy waits for more data instead of opening the tunnel.
        data.layer = None
        via = _via(self.proxies.route(address[0], address[1]))
        if via is None:
            data.layer = tunnel
        elif isinstance(tunnel, UDPLayer):
            data.layer = Refused(data.context)
        else:
            data.layer = through_proxy(tunnel, via, partial(self._failed, data.context.client))

    def _way(self, flow: http.HTTPFlow) -> Way | None:
        """Returns the way of a tunnel that is opened before the client gets its answer."""
        host, port = flow.request.host, flow.request.port
        return Way(_via(self.proxies.route(host, port))) if self._opens(flow.client_conn, host, port) else None

    def _opens_socks(self, of: context.Context) -> bool:
        host, port = (of.server.address or ("", 0))[:2]
        return self._opens(of.client, host, port) and self.proxies.route(host, port) is None

    def _opens(self, client: connection.Client, host: str, port: int) -> bool:
        is_name = bool(host) and address_of(host.strip("[]")) is None
        return is_name and not isinstance(client.proxy_mode, UpstreamMode) and self._passes(host, port)

    def _answer_failed(self, flow: http.HTTPFlow, fault: Fault | None) -> None:
        """Answers the client of a tunnel that cannot be opened. Without a fault, it has gone."""
        if fault is None:
            self._log.broken(flow.client_conn)
            return
        request_id = new_request_id()
        flow.response = answer_with(fault.error(), request_id, "CONNECT")
        flow.response.headers["connection"] = "close"
        self._failed(flow.client_conn, fault, request_id)

    def _socks_failed(self, of: context.Context, fault: Fault) -> None:
        self._failed(of.client, fault)

    def _failed(self, client: connection.Client, fault: Fault, request_id: str | None = None) -> None:
        """Logs a tunnel that was not opened, without its host. With a request id, the client got the error."""
        self._log.not_opened(client, fault, request_id)
        self._warnings.count(f"untouched tunnels whose host {fault.value[1]} ({fault.kind})")


def _via(proxy: OutboundProxy | None) -> Via | None:
    return (proxy.scheme, proxy.address) if proxy is not None else None
