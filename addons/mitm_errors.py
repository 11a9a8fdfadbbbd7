"""mitmproxy's own error pages, in our shape.

Some refusals happen below the hooks: a body over the limit, a malformed head, an upstream that cannot be reached.
mitmproxy answers them with an HTML page that may quote the request. There is no option for it, so the one function
that writes the page is replaced; a test holds that it is still the one.
"""

from contextvars import ContextVar

from mitmproxy import http
from mitmproxy.net.http import http1
from mitmproxy.proxy.layers.http import _http1

from gateway.errors import BadRequest, GatewayError, InternalError, TooLarge
from gateway.http.strict_json import dump
from gateway.http.upstream_failures import Fault
from gateway.ids import new_request_id

# What mitmproxy says of an upstream connection that `addons/own_listeners.py` refused.
OWN_LISTENER = "one of the gateway's own listeners"
OWN_LISTENER_REFUSED = f"Connection killed: {OWN_LISTENER}"

_answer: ContextVar[tuple[str, GatewayError | None] | None] = ContextVar("_answer", default=None)


def answer_for(request_id: str, error: GatewayError | None = None) -> None:
    """The next error page of this task is the answer to that request: its receipt is found under this id.

    `error` is what the page tells, where more is known of it than its status.
    """
    _answer.set((request_id, error))


def _error_for(status: int) -> GatewayError:
    match status:
        case 413:
            return TooLarge("The body is larger than the gateway takes.")
        case 502 | 503:
            return Fault.UNKNOWN.error()
        case 504:
            return Fault.TIMED_OUT.error()
        case _ if 400 <= status < 500:
            return BadRequest("The request could not be read.")
        case _:
            return InternalError("The gateway failed to handle this request.")


def error_response(status_code: int, message: str = "") -> bytes:
    """The bytes of an error response; `message`, which may quote the request, is dropped."""
    request_id, known = _answer.get() or (new_request_id(), None)
    if message == OWN_LISTENER_REFUSED:
        known = Fault.OWN_LISTENER.error()
    return error_page(known or _error_for(status_code), request_id)


def error_page(error: GatewayError, request_id: str | None = None) -> bytes:
    """The bytes of the response that tells an error and ends the connection."""
    request_id = request_id or new_request_id()
    headers = {"content-type": "application/json", "connection": "close", "x-svc-request-id": request_id}
    response = http.Response.make(error.status, dump(error.body(request_id)), headers)
    return bytes(http1.assemble_response(response))


def speak_json() -> None:
    """Replaces mitmproxy's error page in this process."""
    _http1.make_error_response = error_response
