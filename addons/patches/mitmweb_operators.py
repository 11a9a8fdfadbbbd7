"""Lets operators sign in to mitmweb with tokens of their own, and tells who edited a request.

mitmproxy has one password, and its cookie is the same for all. Upstream would have to let a program check passwords and
name the user.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from hmac import compare_digest
from ipaddress import ip_address
from secrets import token_hex
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

import tornado.web
from mitmproxy import http
from mitmproxy.flow import Flow
from mitmproxy.tools.web.app import AuthRequestHandler

CHECKED_WITH = "12.2.3"

SECONDS = 60
_MOST_WRONG = 20

_log = logging.getLogger(__name__)
_EDITOR = "privacy_gateway_editor"
# The operator whose request mitmweb serves; "" for the one without a name.
_current: ContextVar[str] = ContextVar("_current", default="")
_client: ContextVar[str] = ContextVar("_client", default="")
# The wrong token that was counted for the request: it is checked before the body is read, and again by the page.
_counted: ContextVar[str] = ContextVar("_counted", default="")


class Operators:
    """The tokens by the operators' names; without any, `otherwise` checks mitmproxy's own.

    After too many wrong tokens from an address, no other is compared until the minute is over: an operator's token is
    chosen by people. mitmproxy's own has 128 random bits and needs no such limit.
    """

    def __init__(
        self,
        tokens: Mapping[str, str],
        otherwise: Callable[[str], bool],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._tokens = {name: token.encode() for name, token in tokens.items()}
        self._otherwise = otherwise
        self._clock = clock
        self._since, self._wrong = clock(), Counter[str]()
        self._ended: set[bytes] = set()

    def install(self, settings: dict[str, Any]) -> None:
        """Has mitmweb ask this object. `settings` are those of its application."""
        settings |= {"is_valid_password": self.is_valid, "operators": self}
        handler: Any = AuthRequestHandler
        handler.get_current_user = _signed_in
        # The value of the cookie for an operator who has just signed in.
        handler.AUTH_COOKIE_VALUE = property(lambda _: f"operator:{_current.get()}:{token_hex(16)}".encode())

    def serve(self, address: str) -> None:
        """Remembers whose request is served: of no operator yet, from this address."""
        _current.set("")
        _client.set(address)
        _counted.set("")

    def stopped(self) -> bool:
        """Tells whether too many wrong tokens came from the address of the request."""
        if self._clock() - self._since >= SECONDS:
            self._since, self._wrong = self._clock(), Counter()
        return self._wrong[_network(_client.get())] >= _MOST_WRONG

    def is_valid(self, password: str) -> bool:
        """Checks a token, and remembers its operator while the request is served."""
        _current.set("")
        if not self._tokens:
            return password.isascii() and self._otherwise(password)
        if self.stopped():
            return False
        given = password.encode("utf-8", "surrogateescape")
        # All are compared, so that the time does not depend on which one it is.
        found = [name for name, token in self._tokens.items() if compare_digest(token, given)]
        if found:
            _current.set(found[0])
        elif password and password != _counted.get():
            _counted.set(password)
            self._note_wrong()
        return bool(found)

    def _note_wrong(self) -> None:
        self._wrong[_network(_client.get())] += 1
        if self.stopped():
            _log.warning("mitmweb: too many wrong tokens from %s; none is accepted from there for now", _client.get())

    def is_cookie(self, value: bytes | None) -> bool:
        """Checks the signed value of a cookie, and remembers its operator while the request is served."""
        kind, name, _ = [*(value or b"").decode().split(":"), "", ""][:3]
        if kind != "operator" or value in self._ended or (name not in self._tokens if self._tokens else name):
            return False
        _current.set(name)
        return True

    def end(self, value: bytes | None) -> None:
        """Refuses from now on the cookie with this signed value. All cookies end with the process."""
        if value is not None:
            self._ended.add(value)


class Editors:
    """Remembers who last changed the body of a request that is held."""

    def __init__(self) -> None:
        self._bodies: WeakKeyDictionary[Flow, bytes | None] = WeakKeyDictionary()

    def note(self, changed: Flow) -> None:
        """Compares the body with the last one. mitmweb reports every change of a flow, while it serves the operator."""
        if not isinstance(changed, http.HTTPFlow) or not changed.intercepted:
            return
        body = changed.request.raw_content
        if self._bodies.setdefault(changed, body) != body:
            self._bodies[changed] = body
            changed.metadata[_EDITOR] = _current.get()


def current_operator() -> str:
    """Returns the name of the operator whose request mitmweb serves, or "" for one without a name."""
    return _current.get()


def editor_of(edited: Flow) -> str:
    """Returns the name of the operator who edited a request, or "" for one without a name."""
    return str(edited.metadata.get(_EDITOR, ""))


def _signed_in(handler: Any) -> bool:
    value = handler.get_signed_cookie(handler.settings["auth_cookie_name"](), min_version=2)
    return bool(handler.settings["operators"].is_cookie(value))


def _network(address: str) -> str:
    """Returns the address, or of IPv6 the part that a client cannot choose."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else found.exploded[:19]


def mark_cookies() -> None:
    """Has mitmweb's cookies sent over TLS alone if they were set over TLS, in this process."""
    handler: Any = AuthRequestHandler

    def set_cookie(self: tornado.web.RequestHandler, name: str, value: str | bytes, **options: Any) -> None:
        # `secure=False` would add the attribute as well.
        secure: dict[str, Any] = {"secure": True} if self.request.protocol == "https" else {}
        tornado.web.RequestHandler.set_cookie(self, name, value, **secure, **options)

    handler.set_cookie = set_cookie
