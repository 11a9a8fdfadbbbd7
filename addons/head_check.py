"""Has the gateway check the head of a request before its body is read, and bounds the body."""

from contextlib import nullcontext

from mitmproxy import http
from mitmproxy.net.http.http1 import expected_http_body_size

from addons.accepted_heads import AcceptedHeads
from addons.flow_state import FlowState
from addons.patches.connection_limits import Clients
from gateway.exchange.messages import Gateway, Listener
from gateway.http.content_encoding import too_large

# Bytes of a body that are read from a client whose key has not been checked yet.
_SMALL_BODY = 64 * 1024
# Bytes that a body without a declared length counts as.
_UNDECLARED_BODY = 1024 * 1024


class HeadCheck:
    """Checks heads. Requests may have at most `body_limit` bytes, and those for public pages `page_limit` bytes."""

    def __init__(self, gateway: Gateway, clients: Clients, body_limit: int, page_limit: int) -> None:
        self._gateway = gateway
        self._clients = clients
        self._body_limit = body_limit
        self._page_limit = page_limit
        self._accepted = AcceptedHeads()

    async def check(self, flow: http.HTTPFlow, state: FlowState) -> None:
        """Has the gateway check the head before the body is read. Raises GatewayError."""
        client = self._clients.of(flow.client_conn)
        if client is not None and _is_small(flow.request, state):
            # `open` checks the key as well, so this saves a round trip to the gateway and risks little memory.
            client.body_limit = _SMALL_BODY
            return
        call = state.call(flow, b"", editable=False)
        caller = self._accepted.find(call)
        if caller is None:
            with client.held_back() if client is not None else nullcontext(), state.asking():
                caller = await self._gateway.check_head(call)
            self._accepted.add(call, caller)
        state.caller = caller
        limit = self._page_limit if caller is None else self._body_limit
        declared = expected_http_body_size(flow.request)
        if declared is not None and declared > limit:
            raise too_large(limit)
        if client is not None:
            self._clients.make_room(
                client, caller.key_id if caller is not None else "", declared or min(limit, _UNDECLARED_BODY)
            )
            client.body_limit = limit


def _is_small(request: http.Request, state: FlowState) -> bool:
    """Returns whether a body is small enough to be read before the key, if it needs one, is checked."""
    fields = state.headers
    has_key = state.listener is Listener.PROXY or "authorization" in fields or "x-svc-key" in fields
    length = expected_http_body_size(request)
    return has_key and "expect" not in fields and length is not None and 0 < length <= _SMALL_BODY
