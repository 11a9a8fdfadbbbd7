"""Decides which requests mitmweb reads at all: those for a name of its own, with a body of a bounded size.

A page of another site whose name is made to lead to this machine (DNS rebinding) could otherwise have a browser talk to
mitmweb as if it were that site. mitmweb itself asks for the token, on every address, but only once it has read the
body. Upstream would have to check the host and the token before the body.
"""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from mitmproxy.tools.web.app import Application, RequestHandler

from addons.patches.mitmweb_operators import SECONDS
from addons.patches.mitmweb_page import HANDLERS
from gateway.errors import NotFound
from gateway.http.strict_json import dump
from gateway.ids import new_request_id
from gateway.wires.unknown_calls import GATEWAYS_PORT, is_model_call

CHECKED_WITH = "12.2.3"

# Before signing in: the form with the token.
_LOGIN_BYTES = 64 * 1024
# For a list of flows that an operator saved and opens again.
_FLOW_FILE, _FLOW_FILE_BYTES = "/flows/dump", 256 * 1024 * 1024


class BoundedApplication(Application):
    """mitmweb's pages, for requests whose `Host` is a loopback name or one of `names`."""

    def __init__(self, master: Any, names: Iterable[str], body_limit: int) -> None:
        super().__init__(master, debug=False)
        self.settings["static_handler_class"] = StaticFiles
        self._names = frozenset(_plain(name) for name in names)
        self._edit_bytes = max(body_limit, _LOGIN_BYTES)
        self.settings["body_limit"] = body_limit
        self.add_handlers(".*", HANDLERS)

    def find_handler(self, request: Any, **kwargs: Any) -> Any:
        request.connection.set_max_body_size(_LOGIN_BYTES)
        if not self._is_own(_plain(request.host_name)):
            return self.get_handler_delegate(request, UnknownHost)
        if is_model_call(request.path):
            return self.get_handler_delegate(request, OtherPort)
        operators = self.settings["operators"]
        operators.serve(request.remote_ip)
        # Before the token of this request is counted: the last that is compared is refused as a wrong one.
        stopped = operators.stopped()
        if self._is_known(request):
            is_file = request.path == _FLOW_FILE
            request.connection.set_max_body_size(_FLOW_FILE_BYTES if is_file else self._edit_bytes)
        elif stopped:
            return self.get_handler_delegate(request, TooManyTokens)
        return super().find_handler(request, **kwargs)

    def _is_own(self, host: str) -> bool:
        try:
            return host in self._names or ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def _is_known(self, request: Any) -> bool:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        is_valid = scheme == "Bearer" and self.settings["is_valid_password"](token)
        return is_valid or bool(RequestHandler(self, request).current_user)


class UnknownHost(RequestHandler):
    """Refuses a request for a name that is not mitmweb's."""

    def prepare(self) -> None:
        self.set_status(403)
        self.finish("mitmweb does not know this Host; add its name to the setting web_names.")


class OtherPort(RequestHandler):
    """Refuses a call of a model's API."""

    def prepare(self) -> None:
        self.set_status(404)
        self.set_header("Content-Type", "application/json")
        error = NotFound(f"This is mitmweb, which operators use. {GATEWAYS_PORT}")
        self.finish(dump(error.body(new_request_id())))


class TooManyTokens(RequestHandler):
    """Refuses a client that has sent many wrong tokens."""

    def prepare(self) -> None:
        self.set_status(429)
        self.set_header("Retry-After", str(SECONDS))
        self.finish(f"Too many wrong tokens from your address. Try again in {SECONDS} seconds.")


class StaticFiles:
    """Names mitmweb's own files. Its log-in page asks for an icon in a folder that its package does not have."""

    @staticmethod
    def make_static_url(_settings: object, path: str) -> str:
        return f"/static/{path.removeprefix('images/')}"


def _plain(name: str) -> str:
    return name.lower().removeprefix("[").removesuffix("]")
