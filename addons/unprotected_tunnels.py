"""Refuses connections to known hosts of models that it does not protect (`gateway/config/unprotected_hosts.toml`).

Such a host would receive prompts through an untouched tunnel. CONNECT and plain HTTP name the host; in other modes, the
ClientHello of TLS or QUIC does, or the `Host` of plain HTTP.
"""

from collections.abc import Callable

from mitmproxy import http
from mitmproxy.net.tls import starts_like_tls_record
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import TCPLayer, UDPLayer

from addons.fail_closed import end_connection, fail_closed
from addons.logs import RareWarnings
from addons.patches.first_bytes import host_names
from addons.request_log import RequestLog
from gateway.config.unprotected_hosts import UnprotectedHost, UnprotectedHosts
from gateway.errors import Forbidden, GatewayError

_CODE = "unprotected_host"
# A fatal alert `access_denied` (RFC 8446, section 6.2).
_ACCESS_DENIED = b"\x15\x03\x03\x00\x02\x02\x31"


class UnprotectedTunnels:
    """The addon. It runs after mitmproxy has decided what to do with a connection, and replaces untouched tunnels.

    `intercepts` tells whether the proxy decrypts traffic to a host and port; then the list is not asked.
    """

    def __init__(self, hosts: UnprotectedHosts, intercepts: Callable[[str, int], bool], log: RequestLog) -> None:
        self.hosts = hosts
        self._intercepts = intercepts
        self._log = log
        self._warnings = RareWarnings()

    def done(self) -> None:
        self._warnings.flush(at_once=True)

    @fail_closed
    async def http_connect(self, flow: http.HTTPFlow) -> None:
        host, port = flow.request.host, flow.request.port
        if not self._intercepts(host, port):
            self.check(host, port)

    def passes(self, host: str, port: int) -> bool:
        """Tells whether a tunnel is neither decrypted nor refused, unless its first bytes name another host."""
        return not self._intercepts(host, port) and self.hosts.find(host, port) is None

    def check(self, host: str, port: int) -> None:
        """Raises Forbidden for a host on the list."""
        found = self.hosts.find(host, port)
        if found is not None:
            self._count(found)
            raise Forbidden(
                f"Nothing was sent: this host receives prompts of {found.clients}, which would not be protected."
                f' Instead, {found.instead}. To let them pass unprotected, set `unprotected_hosts = "tunnel"`.',
                code=_CODE,
            )

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Ends the connection of a refused tunnel; called by `fail_closed`."""
        end_connection(flow, error, self._log)

    def next_layer(self, data: layer.NextLayer) -> None:
        tunnel = data.layer
        if not isinstance(tunnel, TCPLayer | UDPLayer) or data.context.server.address is None:
            return
        # After a hook that failed, mitmproxy waits for more data instead of opening the tunnel.
        data.layer = None
        port = data.context.server.address[1]
        found = next(filter(None, (self.hosts.find(name, port) for name in host_names(data))), None)
        if found is None:
            data.layer = tunnel
        else:
            self._count(found)
            self._log.cut(data.context.client, _CODE)
            data.layer = Refused(data.context)

    def _count(self, found: UnprotectedHost) -> None:
        # The entry is not private, unlike the name that the client sent.
        self._warnings.count(
            f"refused connections to hosts that cannot be protected, such as `{found.patterns[0]}`"
            f' ({found.clients}; `unprotected_hosts = "tunnel"` lets them pass)'
        )


class Refused(layer.Layer):
    """Closes a connection, within TLS with an alert that clients report."""

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        client = self.context.client
        if isinstance(event, events.DataReceived) and starts_like_tls_record(event.data):
            yield commands.SendData(client, _ACCESS_DENIED)
        if not isinstance(event, events.Start):
            yield commands.CloseConnection(client)
