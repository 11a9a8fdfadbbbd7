"""The flows that operators see are not the flows that are served.

Each is a likeness, made of bytes that may cross. So nothing an operator does to one (edit, revert, delete, replay) can
reach a request under way, and nothing that is put into a served flow for its client can reach an operator.
"""

from mitmproxy import connection, http
from mitmproxy.flow import Error

from addons.credentials import scrub

# What may be told of a method: any other word in its place could be anybody's.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def likeness(flow: http.HTTPFlow) -> http.HTTPFlow:
    """A flow that shows the same request and shares nothing with `flow` that could be changed."""
    request = flow.request
    shown = _bare(flow, (request.host, request.port), request.timestamp_start)
    shown.request = http.Request(
        request.data.host,
        request.data.port,
        request.data.method,
        request.data.scheme,
        request.data.authority,
        request.data.path,
        request.data.http_version,
        http.Headers(request.headers.fields),
        request.raw_content,
        None,
        request.timestamp_start,
        request.timestamp_end,
    )
    return shown


def answer(shown: http.HTTPFlow, flow: http.HTTPFlow) -> None:
    """Shows the response that `flow` holds now."""
    response = flow.response
    if response is not None:
        shown.response = http.Response(
            response.data.http_version,
            response.data.status_code,
            response.data.reason,
            http.Headers(scrub(response.headers).fields),
            response.raw_content,
            None,
            response.timestamp_start,
            response.timestamp_end or response.timestamp_start,
        )
    server = flow.server_conn
    for name in ("peername", "sockname", "timestamp_start", "timestamp_tcp_setup", "timestamp_tls_setup"):
        setattr(shown.server_conn, name, getattr(server, name))


def entry(flow: http.HTTPFlow, address: tuple[str, str, int], path: str, status: int | None) -> http.HTTPFlow:
    """A flow that tells of a call without its text. `address` is scheme, host and port; `path` must be fit to be read.

    Without a status it broke off.
    """
    scheme, host, port = address
    asked = flow.request
    shown = _bare(flow, None, asked.timestamp_start)
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


def _bare(flow: http.HTTPFlow, address: tuple[str, int] | None, start: float) -> http.HTTPFlow:
    client = connection.Client(
        peername=flow.client_conn.peername,
        sockname=flow.client_conn.sockname,
        timestamp_start=flow.client_conn.timestamp_start or start,
    )
    shown = http.HTTPFlow(client, connection.Server(address=address))
    shown.timestamp_created = start
    return shown
