"""Speaks TLS with the clients of our listeners, with the certificate of the settings.

Within it, a connection is as one without TLS: what a tunnel of the proxy holds is decrypted by mitmproxy's authority.
"""

from collections.abc import Iterator

from mitmproxy import connection, exceptions, tls
from mitmproxy.net.tls import starts_like_tls_record
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ClientTLSLayer
from mitmproxy.proxy.layers.tls import parse_client_hello
from mitmproxy.proxy.mode_specs import ProxyMode, RegularMode, ReverseMode, UpstreamMode

from addons.certificate_files import CertificateFiles
from addons.master import NOWHERE
from addons.mitm_errors import plain_http_answer, tls_required
from addons.patches.connection_limits import Clients, Phase
from gateway.config.settings import Settings

# A client that sent plain HTTP may send as much before its connection is closed.
_DISCARDED = 64 * 1024


class ListenerTls:
    """The addon. The gateway's listener, the proxy and its kind among `modes` have the certificate, not mitmweb."""

    def __init__(self, certificates: CertificateFiles, settings: Settings, clients: Clients) -> None:
        self._certificates = certificates
        self._settings = settings
        self._clients = clients

    def next_layer(self, data: layer.NextLayer) -> None:
        """Refuses plain HTTP, and has mitmproxy wait for the whole ClientHello, whose size `PrefaceLimit` bounds."""
        if data.layer is not None or len(data.context.layers) != 1 or not self._has_tls(data.context.client):
            return
        start = data.data_client()
        if start and start[:1] != b"\x16":
            data.layer = _PlainHttp(data.context, self._refusal(data.context.client, start))
        elif not _has_client_hello(start):
            raise exceptions.AddonHalt

    def tls_start_client(self, data: tls.TlsData) -> None:
        if self._is_outer(data.context):
            data.ssl_conn = self._certificates.connection()

    def tls_established_client(self, data: tls.TlsData) -> None:
        """Forgets the outer TLS: the name in it is that of the listener, and no host's whose traffic is decrypted."""
        if not self._is_outer(data.context):
            return
        client = data.context.client
        client.tls, client.sni, client.alpn, client.alpn_offers = False, None, None, ()
        client.tls_version = client.cipher = client.timestamp_tls_setup = None
        self._clients.mark(self._clients.of(client), Phase.IDLE)

    def _refusal(self, client: connection.Client, start: bytes) -> bytes:
        """Returns the last answer to a client, if it began with HTTP."""
        state = self._clients.of(client)
        self._clients.mark(state, Phase.CLOSING)
        if state is None or not start[:1].isalpha():
            return b""
        return plain_http_answer(start, self._clients.refused(state, tls_required(), client))

    def _has_tls(self, client: connection.Client) -> bool:
        return mode_speaks_tls(self._settings, client.proxy_mode)

    def _is_outer(self, context: Context) -> bool:
        """Tells whether the only TLS of a connection is that with one of our listeners."""
        outer = [number for number, each in enumerate(context.layers) if isinstance(each, ClientTLSLayer)]
        return outer == [1] and self._has_tls(context.client)


def mode_speaks_tls(settings: Settings, mode: ProxyMode) -> bool:
    """Tells whether the listener of a mode has the certificate: the gateway's, the proxy's, and others of its kind."""
    if isinstance(mode, ReverseMode):
        return mode.data == NOWHERE and settings.speaks_tls("gateway")
    return isinstance(mode, RegularMode | UpstreamMode) and settings.speaks_tls("proxy")


class _PlainHttp(layer.Layer):
    """Sends the last answer and closes. Closing with unread data would reset the connection, and could lose it."""

    def __init__(self, context: Context, answer: bytes) -> None:
        super().__init__(context)
        self._answer = answer
        self._left = _DISCARDED

    def _handle_event(self, event: events.Event) -> Iterator[commands.Command]:  # type: ignore[override]
        client = self.context.client
        if isinstance(event, events.Start):
            if self._answer:
                yield commands.SendData(client, self._answer)
            yield commands.CloseTcpConnection(client, half_close=True)
        elif isinstance(event, events.DataReceived):
            self._left -= len(event.data)
        if self._left < 0 or isinstance(event, events.ConnectionClosed):
            yield commands.CloseConnection(client)


def _has_client_hello(start: bytes) -> bool:
    """Tells whether all of a ClientHello has arrived, or something that cannot become one."""
    if len(start) < 3 or not starts_like_tls_record(start):
        return len(start) >= 3
    try:
        return parse_client_hello(start) is not None
    except ValueError:
        return True
