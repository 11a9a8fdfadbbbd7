"""Sends requests in plain HTTP to another proxy in absolute form (RFC 9112, section 3.2.2).

Many proxies permit CONNECT to port 443 only. The flow keeps the request as the upstream gets it, without the
credentials for the proxy. Upstream would have to use the absolute form outside of its upstream mode, and to keep such
credentials apart from the flow.
"""

from copy import copy
from dataclasses import replace
from weakref import WeakKeyDictionary

from mitmproxy import connection, http
from mitmproxy.net.http import url
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import ErrorCode, RequestHeaders, ResponseHeaders, ResponseProtocolError

from addons.patches.head_limits import BoundedClient, Commands
from gateway.http.upstream_failures import Fault

CHECKED_WITH = "12.2.3"

_REFUSES_CREDENTIALS = 407
# The servers that are reached in this way, with the credentials for the proxy.
_absolute: WeakKeyDictionary[connection.Connection, str | None] = WeakKeyDictionary()


def send_absolute(server: connection.Connection, authorization: str | None) -> None:
    """Has the requests to a server sent in absolute form, with this `Proxy-Authorization`."""
    _absolute[server] = authorization


class ProxiedClient(BoundedClient):
    """Writes requests as the other proxy expects them, and reads its answer if it wants other credentials."""

    def send(self, event: HttpEvent) -> Commands:
        if isinstance(event, RequestHeaders) and self.conn in _absolute:
            event = replace(event, request=_for_proxy(event.request, _absolute[self.conn]))
        yield from super().send(event)

    def read_headers(self, event: events.ConnectionEvent) -> Commands:
        for command in super().read_headers(event):
            answer = command.event if isinstance(command, ReceiveHttp) else None
            if isinstance(answer, ResponseHeaders) and self._is_of_proxy(answer.response):
                self.state = self.done
                kind = Fault.PROXY_CREDENTIALS.kind
                yield commands.CloseConnection(self.conn)
                yield ReceiveHttp(ResponseProtocolError(answer.stream_id, kind, ErrorCode.GENERIC_SERVER_ERROR))
                return
            yield command

    def _is_of_proxy(self, answer: http.Response) -> bool:
        return answer.status_code == _REFUSES_CREDENTIALS and self.conn in _absolute


def _for_proxy(request: http.Request, authorization: str | None) -> http.Request:
    sent = copy(request)
    sent.data = copy(request.data)
    sent.data.headers = copy(request.headers)
    sent.data.authority = url.hostport("http", request.host, request.port).encode("idna")
    if authorization is not None:
        sent.data.headers["proxy-authorization"] = authorization
    return sent
