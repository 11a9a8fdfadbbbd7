"""Logs one line for each request of both listeners, refused ones included, and for each tunnel and WebSocket.

A line has the request id, the key, the wire, the policy, what was hidden by type and action, how the request ended, its
size and how long each stage took. It holds words and counts of the gateway's own, names of models and of hosts that the
settings intercept, and never text, keys or other hosts.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from time import time
from typing import Any
from weakref import WeakKeyDictionary

import orjson
from mitmproxy import connection, http
from mitmproxy.proxy.mode_specs import ReverseMode
from mitmproxy.proxy.server_hooks import ServerConnectionHookData

from addons.flow_state import FlowState, listener_of
from addons.metrics import Metrics
from gateway.errors import GatewayError
from gateway.http.client_address import client_address
from gateway.http.methods import METHODS
from gateway.http.upstream_failures import Fault
from gateway.models import Caller, ReceiptRef
from gateway.receipts.drafts import outcome_of

_log = logging.getLogger("gateway.requests")


class Line(dict[str, Any]):
    """The members of a line. As text, which a log in JSON does not need, they are `name=value` pairs."""

    def __str__(self) -> str:
        return _as_text(self)


class RequestLog:
    """Writes the lines. It is an addon to notice tunnels, and runs last, so that it sees only those that were let pass.

    `trusted` are the networks of proxies whose `X-Forwarded-For` is believed. `shows_host` tells whether a host and
    port may be named.
    """

    def __init__(
        self,
        trusted: tuple[IPv4Network | IPv6Network, ...] = (),
        shows_host: Callable[[str, int], bool] = lambda *_: False,
    ) -> None:
        self.metrics = Metrics()
        self.trusted = trusted
        self._shows_host = shows_host
        self.watch: Callable[[http.HTTPFlow, FlowState, Line], None] | None = None
        """Is called with each line about a request that was read."""
        # Callers of the proxy whose connection or last request had a gateway key.
        self.callers: WeakKeyDictionary[connection.Client, Caller] = WeakKeyDictionary()
        # When a connection without requests became a tunnel, or its first upstream was connected.
        self._tunnels: WeakKeyDictionary[connection.Client, float] = WeakKeyDictionary()

    def ended(
        self,
        flow: http.HTTPFlow,
        state: FlowState,
        outcome: str,
        error: GatewayError | None = None,
        code: str | None = None,
    ) -> None:
        """Logs a request that has ended, and the error or its code that ended it. Does nothing if it has been logged.

        The client gets the error, unless an answer has begun.
        """
        if state.logged:
            return
        state.logged = True
        self._tunnels.pop(flow.client_conn, None)
        request, response = flow.request, flow.response
        status = response.status_code if response is not None else None
        if error is not None and state.stream is None:
            status = error.status
        line = self._write(
            {
                "request_id": state.request_id,
                "connection": state.connection or None,
                **_of_caller(state.caller),
                "client": client_address(flow.client_conn.peername, state.headers.fields, self.trusted),
                "listener": state.listener.value,
                "method": request.method if request.method in METHODS else "other",
                "path": state.path,
                "wire": state.wire.id if state.wire else None,
                **_of_receipt(state.receipt_ref),
                "upstream": self._upstream(state),
                "guard": _of_guard(state.guard),
                "outcome": outcome,
                "status": status,
                "upstream_status": state.upstream_status,
                "code": error.code if error is not None else code,
                "bytes": {"received": state.received, "sent": _size(flow, state)},
                "ms": _stages(flow, state),
            }
        )
        if self.watch is not None:
            self.watch(flow, state, line)

    def socket_ended(
        self, flow: http.HTTPFlow, state: FlowState, messages: tuple[int, int], codes: Sequence[int], seconds: float
    ) -> None:
        """Logs a WebSocket that has ended. The messages have lines of their own, with the same `connection`."""
        self._write(
            {
                "connection": state.request_id,
                **_of_caller(state.caller),
                "client": client_address(flow.client_conn.peername, state.headers.fields, self.trusted),
                "listener": state.listener.value,
                "path": state.path,
                "wire": state.wire.id if state.wire else None,
                "outcome": "websocket",
                "messages": dict(zip(("received", "sent"), messages, strict=True)),
                "closed": dict(zip(("client", "upstream"), codes, strict=True)),
                "ms": {"open": _ms(seconds)},
            }
        )

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Logs a request or tunnel that was refused before it had a state."""
        response = flow.response
        request_id = response.headers.get("x-svc-request-id") if response is not None else None
        method = "CONNECT" if flow.request.method == "CONNECT" else "other"
        self._write_short(flow.client_conn, "refused", error.code, error.status, request_id=request_id, method=method)

    def broken(
        self, client: connection.Client, error: GatewayError | None = None, request_id: str | None = None
    ) -> None:
        """Logs a request to a host that is not intercepted whose connection failed. Without an error, its client left.

        If no answer has begun, the client got the error with this request id.
        """
        if error is None:
            self._write_short(client, "cancelled")
        else:
            self._write_short(client, outcome_of(error.code), error.code, error.status, request_id=request_id)

    def cut(self, client: connection.Client, code: str) -> None:
        """Logs a tunnel whose first bytes name a host that is refused."""
        self._write_short(client, "refused", code)

    def not_opened(self, client: connection.Client, fault: Fault, request_id: str | None = None) -> None:
        """Logs a tunnel that could not be opened. A client of CONNECT got the error with this request id."""
        error = fault.error()
        status, method = (error.status, "CONNECT") if request_id else (None, None)
        self._write_short(client, outcome_of(error.code), error.code, status, request_id=request_id, method=method)

    def unread(self, request_id: str, error: GatewayError, client: connection.Client) -> None:
        """Logs a request whose head could not be read."""
        self._write_short(client, "refused", error.code, error.status, request_id=request_id)

    def http_connected(self, flow: http.HTTPFlow) -> None:
        """Notes a tunnel that the client may leave before it sends anything."""
        self._tunnels.setdefault(flow.client_conn, time())

    def server_connected(self, data: ServerConnectionHookData) -> None:
        if not isinstance(data.client.proxy_mode, ReverseMode):
            self._tunnels.setdefault(data.client, time())

    def client_disconnected(self, client: connection.Client) -> None:
        since = self._tunnels.get(client)
        if since is None:
            return
        self._write_short(client, "tunnel", ms={"total": _ms(time() - since)})

    def _upstream(self, state: FlowState) -> str | None:
        """Returns the name of the configured upstream, or of an intercepted host, that a request was sent to."""
        if state.forwarded is None:
            return None
        host, port, _ = state.target
        return state.forwarded.upstream or (host if self._shows_host(host, port) else "other")

    def _write_short(
        self,
        client: connection.Client,
        outcome: str,
        code: str | None = None,
        status: int | None = None,
        **members: Any,
    ) -> None:
        """Writes the line of a request or tunnel of which little is known."""
        self._tunnels.pop(client, None)
        about = {"client": client_address(client.peername, (), ()), "listener": listener_of(client).value}
        self._write(
            {
                **members,
                **_of_caller(self.callers.get(client)),
                **about,
                "outcome": outcome,
                "status": status,
                "code": code,
            }
        )

    def _write(self, line: dict[str, Any]) -> Line:
        written = Line((name, value) for name, value in line.items() if value is not None)
        self.metrics.observe(written)
        _log.info("request %s", written, extra={"request": written})
        return written


def _of_caller(caller: Caller | None) -> dict[str, Any]:
    if caller is None:
        return {}
    return {"key_id": caller.key_id, "key_label": caller.label or None, "credential": caller.credential or None}


def _of_receipt(receipt: ReceiptRef | None) -> dict[str, Any]:
    """Returns what the receipt says about the request."""
    if receipt is None:
        return {}
    body = orjson.loads(receipt.body)
    return {
        "receipt": receipt.sequence,
        "operation": body["operation"],
        "model": body.get("model"),
        "policy": f"{body['policy']['id']}@{body['policy']['version']}",
        "route": body["route"],
        "risk": body["risk_level"],
        "entities": body["entity_counts"] or None,
        "actions": body["transformation_counts"] or None,
    }


def _of_guard(verdict: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Returns the guard's action, and its findings by kind."""
    if verdict is None:
        return None
    findings: dict[str, int] = {}
    for finding in verdict["findings"]:
        findings[finding["kind"]] = findings.get(finding["kind"], 0) + finding.get("count", 1)
    return {"action": verdict["action"], "findings": findings}


def _size(flow: http.HTTPFlow, state: FlowState) -> int:
    """Returns the bytes of the body that the client got."""
    if state.stream is not None:
        return state.stream.sent
    if state.answer is not None:
        return len(state.answer)
    return len(flow.response.data.content or b"") if flow.response is not None else 0


def _stages(flow: http.HTTPFlow, state: FlowState) -> dict[str, float]:
    """Returns the milliseconds of each stage that the request reached.

    `upstream` is the time from the release of the request to the last byte of the answer, `first_byte` to the first.
    `overhead` is what is left of the total after receiving the request, holding it for an operator, and the upstream.
    """
    request, response, now = flow.request, flow.response, time()
    seconds = dict(state.seconds)
    if request.timestamp_end is not None:
        seconds["receive"] = request.timestamp_end - request.timestamp_start
    if state.released_at is not None:
        last = first = now
        if response is not None and state.upstream_status is not None:
            first = response.timestamp_start or now
            last = response.timestamp_end or now
        seconds["first_byte"] = first - state.released_at
        seconds["upstream"] = last - state.released_at
    if state.stream is not None:
        # Restored while the upstream was sending.
        seconds["restore"] = state.stream.seconds
    total = now - request.timestamp_start
    spent = sum(seconds.get(stage, 0.0) for stage in ("receive", "held", "upstream"))
    return {stage: _ms(value) for stage, value in [*seconds.items(), ("overhead", total - spent), ("total", total)]}


def _ms(seconds: float) -> float:
    return round(max(seconds, 0.0) * 1000, 1)


def _as_text(line: Mapping[str, Any], prefix: str = "") -> str:
    """Returns a line as `name=value` pairs. No value has a space but a key's label, which is quoted."""
    parts = []
    for name, value in line.items():
        if isinstance(value, Mapping):
            parts.append(_as_text(value, f"{prefix}{name}."))
        else:
            shown = orjson.dumps(value).decode() if isinstance(value, str) and not value.isalnum() else value
            parts.append(f"{prefix}{name}={shown}")
    return " ".join(filter(None, parts))
