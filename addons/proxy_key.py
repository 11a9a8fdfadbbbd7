"""Requires a gateway key of proxy clients, as the setting `proxy_key` says.

CONNECT and SOCKS5 authenticate a connection with all requests in its tunnel; plain HTTP authenticates each request. A
request that has no `X-SVC-Key` gets the key of its connection as such, so that what the key permits applies to it.
"""

from base64 import b64decode
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from mitmproxy import connection, http
from mitmproxy.proxy.layers.modes import Socks5AuthData
from mitmproxy.proxy.mode_specs import LocalMode, ReverseMode

from addons.fail_closed import end_connection, fail_closed
from addons.logs import RareWarning
from addons.patches.connection_limits import Clients
from addons.request_log import RequestLog
from gateway.auth.credentials import KEY_PREFIX
from gateway.errors import GatewayError, ProxyKeyRequired, Unauthorized
from gateway.exchange.messages import Gateway

_AUTHORIZATION = "proxy-authorization"
_OWN_KEY = "x-svc-key"
_ADVICE = "Set it in the proxy's URL: HTTPS_PROXY={}://key:KEY@HOST:PORT."


class ProxyKey:
    """The addon. It has no part in the gateway's listener, nor in `local` modes, which serve this machine alone."""

    def __init__(self, gateway: Gateway, clients: Clients, log: RequestLog, *, tls: bool = False) -> None:
        self._gateway = gateway
        self._clients = clients
        self._log = log
        self._advice = _ADVICE.format("https" if tls else "http")
        self._keys: WeakKeyDictionary[connection.Client, str] = WeakKeyDictionary()
        self._refused = RareWarning("refused proxy clients without a valid gateway key (`proxy_key`): %d")

    def done(self) -> None:
        self._refused.flush(at_once=True)

    @fail_closed
    async def http_connect(self, flow: http.HTTPFlow) -> None:
        self._keys[flow.client_conn] = await self._take(flow)

    @fail_closed
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        client, headers = flow.client_conn, flow.request.headers
        if not flow.live or flow.error is not None or isinstance(client.proxy_mode, ReverseMode | LocalMode):
            return
        key = self._keys.get(client) or await self._take(flow)
        if _OWN_KEY not in headers:
            headers[_OWN_KEY] = key

    async def socks5_auth(self, data: Socks5AuthData) -> None:
        """Marks the client as valid, or leaves it invalid."""
        key = chosen_key(data.username, data.password)
        try:
            await self._check(key, data.client_conn)
        except GatewayError:
            return
        self._keys[data.client_conn] = key
        data.valid = True

    async def _take(self, flow: http.HTTPFlow) -> str:
        """Removes the key from a request and returns it. Raises GatewayError if it is not valid."""
        key = key_in(flow.request.headers.get_all(_AUTHORIZATION))
        await self._check(key, flow.client_conn)
        del flow.request.headers[_AUTHORIZATION]
        return key

    async def _check(self, key: str, client: connection.Client) -> None:
        self._log.callers.pop(client, None)
        try:
            if not key:
                raise ProxyKeyRequired(f"The proxy requires a gateway key. {self._advice}")
            self._log.callers[client] = await self._gateway.check_proxy_key(key)
        except Unauthorized as error:
            self._refused.count()
            raise ProxyKeyRequired(f"{error.message} {self._advice}") from None
        except GatewayError as error:
            self._refused.count()
            if error.caller is not None:
                self._log.callers[client] = error.caller
            raise

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Ends the connection without reading a body; called by `fail_closed`."""
        end_connection(flow, error, self._log)
        if flow.request.method != "CONNECT":
            self._clients.answer_at_once(flow)


def key_in(values: Sequence[str]) -> str:
    """Returns the key in the values of `Proxy-Authorization`: Bearer, or one part of Basic. Empty if there is none."""
    scheme, _, given = values[0].strip().partition(" ") if len(values) == 1 else ("", "", "")
    match scheme.lower():
        case "bearer":
            return given.strip()
        case "basic":
            try:
                pair = b64decode(given.strip(), validate=True).decode("utf-8", "surrogateescape")
            except ValueError:
                return ""
            user, _, password = pair.partition(":")
            return chosen_key(user, password)
        case _:
            return ""


def chosen_key(user: str, password: str) -> str:
    """Returns the part that is the key: the password, unless it is empty or only the user name looks like a key."""
    prefix = KEY_PREFIX.decode()
    if user.startswith(prefix) and not password.startswith(prefix):
        return user
    return password or user
