"""The flows that operators see are not the flows that are served.

Each is a likeness, made of bytes that may cross. So nothing an operator does to one (edit, revert, delete, replay) can
reach a request under way, and nothing that is put into a served flow for its client can reach an operator.
"""

from copy import copy

from mitmproxy import connection, http
from mitmproxy.flow import Error

from addons.credentials import scrub

# What may be told of a method: any other word in its place could be anybody's.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def likeness(flow: http.HTTPFlow) -> http.HTTPFlow:
    """A flow that shows the same request and shares nothing with `flow` that could be changed."""
    shown = http.HTTPFlow(_copied(flow.client_conn), _copied(flow.server_conn))
    shown.request = request(flow)
    shown.timestamp_created = flow.request.timestamp_start
    return shown


def request(flow: http.HTTPFlow) -> http.Request:
    """The request of `flow` as operators may see it."""
    return _twin(flow.request, http.Headers(flow.request.headers.fields))


def answer(shown: http.HTTPFlow, flow: http.HTTPFlow) -> None:
    """Shows the response that `flow` holds now."""
    shown.server_conn = _copied(flow.server_conn)
    if flow.response is not None:
        shown.response = _twin(flow.response, scrub(flow.response.headers))
        shown.response.timestamp_end = flow.response.timestamp_end or flow.response.timestamp_start


def _twin[M: http.Message](message: M, headers: http.Headers) -> M:
    # Not through the constructor, which looks at the type of every field and takes longer than all else here.
    twin = copy(message)
    twin.stream = False
    twin.data = copy(message.data)
    twin.data.headers = headers
    twin.data.trailers = None
    return twin


def _copied[C: connection.Connection](of: C) -> C:
    copied = copy(of)
    copied.state = connection.ConnectionState.CLOSED
    return copied


def entry(flow: http.HTTPFlow, address: tuple[str, str, int], path: str, status: int | None) -> http.HTTPFlow:
    """A flow that tells of a call without its text. `address` is scheme, host and port; `path` must be fit to be read.

    Without a status it broke off.
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
