"""Renders the error responses for what happens below mitmproxy's hooks; `addons.patches.error_pages` installs them."""

from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache

from mitmproxy import http
from mitmproxy.net.http import http1

from gateway.errors import BadRequest, GatewayError, InternalError
from gateway.http.content_encoding import too_large
from gateway.http.security_headers import SECURITY_HEADERS
from gateway.http.strict_json import dump
from gateway.http.upstream_failures import Fault
from gateway.ids import new_request_id
from gateway.models import Family
from gateway.wires.base import Wires
from gateway.wires.error_shapes import error_shape_of, shaped, shaped_headers

# mitmproxy's messages for connections that `addons/connection_addresses.py` refuses or another proxy does not open
# (`addons/patches/outbound_tunnel.py`): the kind of a fault.
CONNECTION_REFUSED = {f"{start}{fault.kind}": fault for fault in Fault for start in ("", "Connection killed: ")}

_wires = cache(Wires.discover)
_answer: ContextVar[tuple[str, GatewayError | None, Family] | None] = ContextVar("_answer", default=None)


def answer_for(request_id: str, error: GatewayError | None = None, family: Family = "openai") -> None:
    """Uses this request id, and this error if given, for the next error page of the current task.

    The client, made for the API `family`, finds the receipt under the id. Without `error`, the status of the page
    decides what it says.
    """
    _answer.set((request_id, error, family))


def family_of_head(lines: Sequence[bytes | bytearray]) -> Family:
    """Returns the API whose errors the client understands. The lines of a request's head may break every rule."""
    method, target = (*(lines[0] if lines else b"").decode("latin-1").split(" "), "", "")[:2]
    wire = _wires().serving(method, target.partition("?")[0])
    if wire:
        return wire.family
    fields = (bytes(line).partition(b":") for line in lines[1:])
    return error_shape_of((name.strip(), value.strip()) for name, _, value in fields)


def _error_for(status: int) -> GatewayError:
    match status:
        case 413:
            return too_large()
        case 502 | 503:
            return Fault.UNKNOWN.error()
        case 504:
            return Fault.TIMED_OUT.error()
        case _ if 400 <= status < 500:
            return BadRequest("The request could not be read.")
        case _:
            return InternalError("The gateway failed to handle this request.")


def error_response(status_code: int, message: str = "", family: Family = "openai") -> bytes:
    """Returns an error response as bytes. Drops `message`, which may quote the request.

    `family` is the API of a client whose request no hook has seen.
    """
    request_id, known, family = _answer.get() or (new_request_id(), None, family)
    if message in CONNECTION_REFUSED:
        known = CONNECTION_REFUSED[message].error()
    return error_page(known or _error_for(status_code), request_id, family)


def answer_with(error: GatewayError, request_id: str, method: str, family: Family = "openai") -> http.Response:
    """Returns the response for an error, as clients of the API `family` expect it."""
    headers = {"content-type": "application/json", **SECURITY_HEADERS, **shaped_headers(error, request_id, family)}
    status, body = shaped(error, request_id, family)
    response = http.Response.make(status, dump(body), headers)
    if method == "HEAD":
        # Keeps `Content-Length` without a body (RFC 9110 section 9.3.2).
        response.data.content = b""
    return response


def error_page(error: GatewayError, request_id: str, family: Family) -> bytes:
    """Returns the response to an error as bytes. It ends the connection."""
    response = answer_with(error, request_id, "", family)
    response.headers.insert(1, "connection", "close")
    return bytes(http1.assemble_response(response))


def plain_http_answer(start: bytes, request_id: str) -> bytes:
    """Returns the answer to a client of a listener with TLS that began with `start`; none if that is not HTTP."""
    if not start[:1].isalpha():
        return b""
    return error_page(tls_required(), request_id, family_of_head(start.split(b"\n")))


def tls_required() -> BadRequest:
    """Returns the error for plain HTTP on a listener with a certificate."""
    return BadRequest("This listener speaks TLS; write https:// in its URL.", code="tls_required")
