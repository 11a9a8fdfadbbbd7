"""Has connections to other hosts opened through the outbound proxy of the settings.

HTTP flows of both listeners take the proxy of their upstream or host; so do untouched tunnels, once
`UnprotectedTunnels` lets them pass. UDP cannot take it and is refused, so that clients fall back to TCP.
"""

from functools import partial

from mitmproxy import connection, http
from mitmproxy.proxy import layer
from mitmproxy.proxy.layers import TCPLayer, UDPLayer
from mitmproxy.proxy.mode_specs import UpstreamMode

from addons.flow_state import FlowStates
from addons.logs import RareWarning
from addons.patches.outbound_tunnel import Via, route_streams, through_proxy
from addons.request_log import RequestLog
from addons.unprotected_tunnels import Refused
from gateway.config.outbound_proxy import OutboundProxies, OutboundProxy
from gateway.http.upstream_failures import Fault


class OutboundProxying:
    """The addon. It runs after `UnprotectedTunnels`, which tells the tunnels apart that pass."""

    def __init__(self, proxies: OutboundProxies, states: FlowStates, log: RequestLog) -> None:
        self._proxies = proxies
        self._states = states
        self._log = log
        self._warnings: dict[Fault, RareWarning] = {}

    def install(self) -> None:
        """Routes every HTTP connection of this process."""
        route_streams(self.via)

    def done(self) -> None:
        for each in self._warnings.values():
            each.flush(at_once=True)

    def via(self, flow: http.HTTPFlow) -> Via | None:
        """Returns the way to the host that a flow is forwarded to. A mode may have a proxy of its own."""
        if isinstance(flow.client_conn.proxy_mode, UpstreamMode):
            return flow.server_conn.via
        state = self._states.of(flow)
        upstream = state.forwarded.upstream if state is not None and state.forwarded is not None else ""
        return _via(self._proxies.route(flow.request.host, flow.request.port, upstream))

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """Adds the proxy's credentials to CONNECT. This flow is the connection's own, and no other addon keeps it."""
        address = flow.server_conn.address
        proxy = self._proxies.at((address[0], address[1])) if address is not None else None
        if proxy is not None and proxy.authorization is not None:
            flow.request.headers["proxy-authorization"] = proxy.authorization

    def next_layer(self, data: layer.NextLayer) -> None:
        tunnel, address = data.layer, data.context.server.address
        if not isinstance(tunnel, TCPLayer | UDPLayer) or address is None:
            return
        if isinstance(data.context.client.proxy_mode, UpstreamMode):
            return
        # After a hook that failed, mitmproxy waits for more data instead of opening the tunnel.
        data.layer = None
        via = _via(self._proxies.route(address[0], address[1]))
        if via is None:
            data.layer = tunnel
        elif isinstance(tunnel, UDPLayer):
            data.layer = Refused(data.context)
        else:
            data.layer = through_proxy(tunnel, via, partial(self._failed, data.context.client))

    def _failed(self, client: connection.Client, fault: Fault) -> None:
        """Logs a tunnel that was not opened, without its host."""
        self._log.not_opened(client, fault)
        if fault not in self._warnings:
            self._warnings[fault] = RareWarning(f"untouched tunnels whose host {fault.value[1]} ({fault.kind}): %d")
        self._warnings[fault].count()


def _via(proxy: OutboundProxy | None) -> Via | None:
    return (proxy.scheme, proxy.address) if proxy is not None else None
