"""Copies of flows for operators, who never see the flows that are served.

Copies consist of protected bytes. Nothing an operator does to one (edit, revert, delete, replay) can affect a request
under way, and nothing that a served flow holds for its client can reach an operator.
"""

from copy import copy

from mitmproxy import connection, http
from mitmproxy.flow import Error

from addons.credentials import scrub

# Methods that may be shown; any other word could be private.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def flow_copy(flow: http.HTTPFlow) -> http.HTTPFlow:
    """Returns a flow with the same request that shares no mutable state with `flow`."""
    shown = http.HTTPFlow(_connection_copy(flow.client_conn), _connection_copy(flow.server_conn))
    shown.request = request(flow)
    shown.timestamp_created = flow.request.timestamp_start
    return shown


def request(flow: http.HTTPFlow) -> http.Request:
    """Returns the request of `flow` as operators may see it."""
    return _message_copy(flow.request, http.Headers(flow.request.headers.fields))


def answer(shown: http.HTTPFlow, flow: http.HTTPFlow) -> None:
    """Copies the current response of `flow` into `shown`."""
    shown.server_conn = _connection_copy(flow.server_conn)
    if flow.response is not None:
        shown.response = _message_copy(flow.response, scrub(flow.response.headers))
        shown.response.timestamp_end = flow.response.timestamp_end or flow.response.timestamp_start


def _message_copy[M: http.Message](message: M, headers: http.Headers) -> M:
    # The constructor checks the type of every field, which would dominate the cost here.
    twin = copy(message)
    twin.stream = False
    twin.data = copy(message.data)
    twin.data.headers = headers
    twin.data.trailers = None
    return twin


def _connection_copy[C: connection.Connection](of: C) -> C:
    copied = copy(of)
    copied.state = connection.ConnectionState.CLOSED
    return copied


def entry(flow: http.HTTPFlow, address: tuple[str, str, int], path: str, status: int | None) -> http.HTTPFlow:
    """Returns a flow that lists a call without its text. `address` is scheme, host and port.

    `path` must hold nothing private. A call without a status was broken off.
    """
    scheme, host, port = address
    asked = flow.request
    client = connection.Client(peername=flow.client_conn.peername, sockname=flow.client_conn.sockname)
    client.timestamp_start = flow.client_conn.timestamp_start or asked.timestamp_start
    shown = http.HTTPFlow(client, connection.Server(address=None))
    shown.timestamp_created = asked.timestamp_start
    shown.request = http.Request(
        host,
        port,
        (asked.method if asked.method in _METHODS else "OTHER").encode(),
        scheme.encode(),
        b"",
        path.encode(),
        b"HTTP/1.1",
        http.Headers(),
        b"",
        None,
        asked.timestamp_start,
        asked.timestamp_end,
    )
    if status is None:
        shown.error = Error("broken off before anything of it crossed")
        return shown
    shown.response = http.Response.make(status)
    shown.response.headers.clear()
    return shown
