"""A fake gateway, and the addon `Protect` with a flow of a client that is connected."""

import json
from collections.abc import Callable
from typing import Any, cast

from mitmproxy import exceptions, http
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import tflow

from addons.fail_closed import Refusals
from addons.flow_state import FlowState, FlowStates
from addons.head_check import HeadCheck
from addons.metered_reader import MeteredReader
from addons.operator_view import Review
from addons.patches.connection_limits import Clients, ClientState
from addons.protect import Protect
from addons.request_log import RequestLog
from addons.websockets import WebSockets
from gateway.auth.credentials import KeySearch
from gateway.errors import Forbidden
from gateway.exchange.answer_guard import AnswerGuard
from gateway.exchange.messages import Call, ForwardedRequest, NativeResponse, StreamPlan
from gateway.guard import GuardContext
from gateway.models import Caller, ReceiptRef, Scope
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.document import GuardDocument
from gateway.wires import chat_completions

KEY = (b"x-svc-key", b"svck_canary")
LARGE = 100_000
PAGE = 1_000
WIRE = chat_completions.WIRE.id
POLICY = {"id": "default", "version": 1, "hash": "a1" * 32}
RECORD = {
    **{"operation": "chat", "route": "protected", "policy": POLICY, "risk_level": "low"},
    **{"entity_counts": {}, "transformation_counts": {}, "tokens": {"input": 1, "external": 1}},
}
RECEIPT = ReceiptRef("req_2", 7, json.dumps(RECORD))
SECRET = b"Bearer sk-canary-of-the-upstream"
FORWARDED = ForwardedRequest(
    "https://api.example/v1/chat/completions", [(b"authorization", SECRET)], b"protected", RECEIPT, True
)
PLAN = StreamPlan(AnswerGuard(GuardContext(Placeholders(b"k" * 32), RestoreScope("source")), GuardDocument()), "req_1")
NATIVE = NativeResponse(200, [(b"content-type", b"text/plain"), (b"content-length", b"4")], b"page", "/docs")
SSE = {"content-type": "text/event-stream"}


class FakeGateway:
    """Returns or raises what a test gives it, and notes what it was asked."""

    def __init__(self) -> None:
        self.check_head = self._asked("check_head", Caller("key_1", Scope.CLIENT))
        self.open = self._asked("open", FORWARDED)
        self.caller_of = self._asked("caller_of", Caller("key_1", Scope.CLIENT))
        self.close = self._asked("close", (b"restored", "answered", {"action": "pass", "findings": []}))
        self.end = self._asked("end", {"action": "flag", "findings": []})
        self.results: dict[str, Any] = {}
        self.calls: list[str] = []
        self.given: list[Any] = []
        self.told: list[tuple[str, bool]] = []
        self.noted: list[str] = []

    def _asked(self, name: str, default: object) -> Callable[..., Any]:
        async def asked(*given: object) -> object:
            self.calls.append(name)
            self.given = [*given]
            result = self.results.get(name, default)
            if isinstance(result, BaseException):
                raise result
            return result

        return asked

    def fail(self, request_id: str, outcome: str, sent: bool = False, code: str | None = None) -> None:
        self.told.append((outcome, sent))

    def disconnected(self, connection: str) -> None:
        self.told.append(("disconnected", False))

    def note(self, call: Call, outcome: str) -> None:
        self.noted.append(outcome)


class Bench:
    """The addon, and a flow of a client that is connected."""

    def __init__(self) -> None:
        self.gateway, self.states, self.clients = FakeGateway(), FlowStates(), Clients()
        review = Review(10, self.intercepts)
        gateway, log = cast(Any, self.gateway), RequestLog()
        self.protect = Protect(
            gateway,
            self.states,
            review,
            Refusals(self.states, review, gateway, log),
            self.clients,
            HeadCheck(gateway, self.clients, LARGE, PAGE),
            log,
            intercepts=self.intercepts,
            check_host=self.check_host,
            limit=LARGE,
            key_search=KeySearch(),
            sockets=WebSockets(gateway, self.states, log, limit=LARGE, seconds=30, answer_limit=LARGE),
        )

    def intercepts(self, host: str, port: int) -> bool:
        return host == "api.example"

    def check_host(self, host: str, port: int) -> None:
        if host == "unprotected.example":
            raise Forbidden("No.", code="unprotected_host")

    def flow(self, *fields: tuple[bytes, bytes], mode: str = "reverse:http://h", **request: Any) -> http.HTTPFlow:
        given = {"path": b"/v1/chat/completions", "host": "api.example", "port": 80, "authority": b"", **request}
        flow = tflow.tflow(req=tflow.treq(method=b"POST", content=b"canary-4711", **given))
        flow.request.headers = http.Headers([*fields, (b"content-length", b"11")] if fields else [KEY])
        flow.client_conn.proxy_mode = ProxyMode.parse(mode)
        flow.live = True
        flow.request.timestamp_end = None
        self.clients.add(ClientState(flow.client_conn.id, "192.0.2.1", cast(MeteredReader, None)))
        return flow

    async def after(self, *hooks: str, flow: http.HTTPFlow | None = None, **response: Any) -> http.HTTPFlow:
        """Returns a flow after the hooks, of which the last may end it."""
        flow = flow or self.flow(KEY)
        for hook in hooks:
            if hook == "responseheaders":
                given = {"status_code": 200, "content": b"received", **response}
                flow.response = http.Response.make(given["status_code"], headers=given.get("headers", {}))
                flow.response.raw_content = given["content"]
            try:
                await getattr(self.protect, hook)(flow)
                self.halted = False
            except exceptions.AddonHalt:
                self.halted = True
        return flow

    def state(self, flow: http.HTTPFlow) -> FlowState:
        state = self.states.of(flow)
        assert state is not None
        return state
