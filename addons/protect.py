"""Answers, refuses or protects every HTTP flow of both listeners.

`requestheaders` removes credentials and destination from the flow; `request` has the gateway protect the body and sets
the destination again. In between, the flow points to a dead end, so an abandoned flow cannot reach any host. `response`
restores the answer: the flow keeps the protected bytes; `ResponseDelivery`, the last addon, sends the client its
answer.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import time
from weakref import WeakKeyDictionary, WeakSet

from mitmproxy import exceptions, http
from mitmproxy.flow import Error
from mitmproxy.net.http.http1 import expected_http_body_size

from addons.credentials import scrub, scrub_answer, seal, take_query_key, without_proxy_headers
from addons.fail_closed import Refusals, disarm, fail_closed
from addons.flow_copies import code_of
from addons.flow_state import FlowState, FlowStates, listener_of
from addons.forwarding import send_to, was_sent
from addons.head_check import HeadCheck
from addons.metered_reader import ClientGone
from addons.mitm_errors import answer_for, answer_with
from addons.operator_view import Review
from addons.patches.connection_limits import Clients, ClientState
from addons.request_log import RequestLog
from addons.streamed_answers import StreamedAnswer, is_stream, prepare_head, restorer
from addons.upstream_faults import fault_of
from addons.websocket_handshake import Handshake
from addons.websockets import WebSockets
from gateway.auth.credentials import KeySearch, scrub_secrets, secrets_of
from gateway.auth.query_key import is_google, with_key
from gateway.errors import BadRequest, BadUpstream, GatewayError, NotFound, Unauthorized, Unavailable
from gateway.exchange.messages import ForwardedRequest, Gateway, Listener, NativeResponse
from gateway.http.content_encoding import decode
from gateway.http.metrics import METRICS_PATH
from gateway.http.security_headers import ALTERNATIVE_SERVICE, SECURITY_HEADERS, is_of_an_address
from gateway.http.upstream_failures import Fault, of_decoding
from gateway.ids import new_request_id
from gateway.receipts.client_view import answer_headers
from gateway.receipts.drafts import outcome_of
from gateway.wires.base import Wires

_log = logging.getLogger(__name__)


class Protect:
    """The addon. `intercepts` tells whether the proxy may decrypt traffic to a host and port.

    `check_host` raises GatewayError for a host to which nothing may pass unprotected. Answers may have at most `limit`
    bytes. `key_search` finds the gateway's own keys.
    """

    def __init__(
        self,
        gateway: Gateway,
        states: FlowStates,
        review: Review,
        refusals: Refusals,
        clients: Clients,
        heads: HeadCheck,
        log: RequestLog,
        *,
        intercepts: Callable[[str, int], bool],
        check_host: Callable[[str, int], None],
        limit: int,
        key_search: KeySearch,
        sockets: WebSockets,
    ) -> None:
        self._gateway = gateway
        self._states = states
        self._review = review
        self._refusals = refusals
        self._clients = clients
        self._heads = heads
        self._log = log
        self._intercepts = intercepts
        self._check_host = check_host
        self._limit = limit
        self._key_search = key_search
        self._sockets = sockets
        self._wires = Wires.discover()
        # Also those that were closed since.
        self._connections: WeakKeyDictionary[http.HTTPFlow, ClientState] = WeakKeyDictionary()
        # Flows that mitmproxy itself refuses; it calls `error` next.
        self._invalid: WeakSet[http.HTTPFlow] = WeakSet()

    @fail_closed
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        if not flow.live:
            # Loaded from a dump by an operator: it is only listed and cannot be sent.
            return
        request = flow.request
        listener = listener_of(flow.client_conn)
        if flow.error is not None:
            self._invalid.add(flow)
        if listener is Listener.PROXY and not self._is_intercepted(flow):
            # Plain HTTP to a host that is not intercepted: forwarded, and not shown to operators.
            if flow.error is None:
                self._pass_through(request)
            raise exceptions.AddonHalt
        target = (request.data.host, request.data.port, request.scheme)
        state = FlowState(new_request_id(), listener, request.headers, target)
        state.wire = self._wires.serving(request.method, request.path.partition("?")[0])
        keys = take_query_key(request) if _is_gemini(state) else []
        self._states.add(flow, state)
        client = self._clients.of(flow.client_conn)
        if client is not None:
            self._connections[flow] = client
            client.request_id = state.request_id
        request.headers = scrub(request.headers)
        disarm(flow)
        if keys:
            state.headers = http.Headers(with_key(state.headers.fields, keys))
        if flow.error is None and expected_http_body_size(request) != 0:
            await self._heads.check(flow, state)
        raise exceptions.AddonHalt

    def _pass_through(self, request: http.Request) -> None:
        """Forwards a request to a host that is not intercepted, without the header fields meant for this proxy."""
        for name in (request.host, request.pretty_host):
            self._check_host(name, request.port)
        request.headers = without_proxy_headers(request.headers)
        address = request.data.authority + b" " + request.data.path
        if self._key_search.in_fields([(address, b""), *request.headers.fields]):
            raise Unauthorized("A gateway key was sent to a host that the gateway does not protect; nothing was sent.")
        request.stream = True

    def _is_intercepted(self, flow: http.HTTPFlow) -> bool:
        """Tells whether a proxied flow goes to an intercepted host. Whatever was decrypted does."""
        request, client = flow.request, flow.client_conn
        names = (request.host, request.pretty_host, client.sni or "")
        return client.tls or any(self._intercepts(name, request.port) for name in names if name)

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None and not flow.live:
            return
        if flow.request.stream or flow.response is not None:
            raise exceptions.AddonHalt
        if state is None:
            raise NotFound("The request arrived on no gateway listener.")
        if self._states.closing:
            raise Unavailable("The gateway is stopping; try again.", code="stopping", retry_after=1)
        state.handshake = None if state.connection else Handshake.of(flow.request, state.headers, state.target)
        state.accepted = True
        content = flow.request.raw_content or b""
        state.received = len(content)
        state.noted = True
        try:
            with self._clients.until_closed(flow.client_conn), state.asking():
                opened = await self._gateway.open(state.call(flow, content, editable=self._review.may_hold))
        except ClientGone:
            # If the gateway had answered already, its receipt needs an outcome.
            self._gateway.fail(state.request_id, "cancelled")
            await self._name_caller(flow, state)
            self._log.ended(flow, state, "cancelled")
            state.accepted = False
            flow.error = Error(Error.KILLED_MESSAGE)
            raise exceptions.AddonHalt from None
        state.caller = opened.caller
        if isinstance(opened, NativeResponse):
            self._answer(flow, state, opened)
            raise exceptions.AddonHalt
        self._forward(flow, state, opened)

    async def _name_caller(self, flow: http.HTTPFlow, state: FlowState) -> None:
        """Has the gateway say who sent a request that its client has given up, for the log."""
        if state.caller is None:
            with suppress(GatewayError):
                state.caller = await self._gateway.caller_of(state.call(flow, b"", editable=False))

    def _answer(self, flow: http.HTTPFlow, state: FlowState, answered: NativeResponse) -> None:
        """Gives the flow the gateway's own response."""
        state.native = True
        headers, body = http.Headers(answered.headers), answered.body
        if answered.route == METRICS_PATH and answered.status == 200:
            own = self._log.metrics.exposition()
            body += own if body else b""
            headers["content-length"] = str(int(headers["content-length"]) + len(own))
        if body:
            headers.setdefault("content-length", str(len(body)))
        flow.response = http.Response.make(answered.status)
        # As they are: mitmproxy would compress a compressed body once more, and give an answer to HEAD the length of
        # its empty body (RFC 9110 section 8.6).
        flow.response.headers, flow.response.raw_content = headers, body
        self._review.native(flow, state, answered)
        state.receipt, state.guard, state.path = answered.receipt, answered.guard, answered.route
        code = code_of(flow.response)
        withheld = state.guard is not None and state.guard["action"] == "replace"
        outcome = "guarded" if withheld else "answered"
        self._log.ended(flow, state, outcome if code is None else outcome_of(code), code=code)

    def _forward(self, flow: http.HTTPFlow, state: FlowState, forwarded: ForwardedRequest) -> None:
        """Sets the protected request and its destination. No other code gives a flow its destination back."""
        state.forwarded = forwarded
        send_to(flow.request, forwarded.url, forwarded.headers, forwarded.body)
        if state.handshake is not None:
            self._sockets.begin(flow, state, state.handshake)
        state.target = (flow.request.data.host, flow.request.data.port, flow.request.scheme)
        state.cleared = True
        state.released_at = time()
        if forwarded.receipt is not None:
            self._states.watch(flow, partial(self._gateway.fail, state.request_id, "failed"))
        state.secrets = secrets_of(forwarded.headers)
        self._review.released(flow, state)

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None and not flow.live:
            return
        if state is None or state.native or not state.cleared or flow.response is None:
            if state is None and flow.request.stream and flow.response is not None:
                flow.response.stream = True
            raise exceptions.AddonHalt
        response = flow.response
        state.upstream_status = response.status_code
        scrub_answer(response, state.secrets)
        if _redirects(response):
            return
        response.headers = seal(response.headers)
        for name in [name for name in response.headers if name.lower().startswith("x-svc-")]:
            del response.headers[name]
        response.headers.pop(ALTERNATIVE_SERVICE, None)
        if state.listener is Listener.GATEWAY:
            for name in filter(is_of_an_address, list(response.headers)):
                del response.headers[name]
            response.headers.update(SECURITY_HEADERS)
        receipt = state.forwarded.receipt if state.forwarded else None
        response.headers.update(answer_headers(receipt) if receipt else {"x-svc-request-id": state.request_id})
        response.stream = False
        plan = state.forwarded.plan if state.forwarded else None
        if plan is not None and state.wire is not None and is_stream(flow, plan.framing):
            # This takes less than a tenth of a millisecond, since the plan is here already.
            stream = restorer(state.wire, plan, self._limit)
            state.stream = StreamedAnswer(stream, state.secrets, keeps=self._review.keeps_answers)
            prepare_head(response, state.stream)

    @fail_closed
    async def response(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None and not flow.live:
            return
        if state is None or state.native or not state.cleared or flow.response is None:
            raise exceptions.AddonHalt
        response = flow.response
        response.data.trailers = None
        if state.stream is not None:
            await self._end_stream(flow, state, state.stream)
            return
        received = self._received(response, state)
        if _redirects(response):
            self._stop_redirect(flow, state)
            return
        if state.handshake is not None:
            self._sockets.accept(flow, response, state, state.handshake)
        assert state.forwarded is not None
        outcome = "answered"
        if state.forwarded.receipt is not None:
            with state.timed("restore"):
                outcome = await self._restore(response, state, received)
        self._review.answered(flow, state)
        self._log.ended(flow, state, outcome)
        if state.answer is None:
            self._states.remove(flow)

    async def _end_stream(self, flow: http.HTTPFlow, state: FlowState, stream: StreamedAnswer) -> None:
        """Has the gateway record a stream that the client has got, and shows it to operators."""
        assert flow.response is not None
        end = stream.end(flow.response.status_code)
        try:
            state.guard = await self._gateway.end(state.request_id, end)
        except GatewayError as error:
            _log.error("the outcome of a stream could not be recorded: %s", error.code)
            self._gateway.fail(state.request_id, end.outcome, sent=True)
        flow.response.data.content = stream.received
        self._review.answered(flow, state)
        self._log.ended(flow, state, end.outcome)
        self._states.remove(flow)

    def _received(self, response: http.Response, state: FlowState) -> bytes:
        """Decodes the upstream's body into the flow, with quoted credentials scrubbed, and returns it."""
        raw = response.raw_content
        if not raw:
            # An answer to HEAD keeps the headers of the body it does not have.
            return b""
        coding = response.headers.pop("content-encoding", None)
        try:
            received = scrub_secrets(decode(raw, coding, self._limit), state.secrets)
        except GatewayError as error:
            response.data.content = b""
            raise self._reported(of_decoding(error), state) from None
        if received != raw:
            response.content = received
        return received

    async def _restore(self, response: http.Response, state: FlowState, received: bytes) -> str:
        """Has the gateway guard and restore the upstream's answer for the client. Returns the outcome."""
        try:
            closed = await self._gateway.close(state.request_id, response.status_code, received)
        except BadUpstream:
            raise self._reported(Fault.NOT_JSON, state) from None
        except GatewayError as error:
            # The upstream answered, and its unrestored answer is safe to pass on.
            _log.error("an answer could not be restored: %s", error.code)
            outcome = "restore_failed"
            self._gateway.fail(state.request_id, outcome, sent=True, code=error.code)
            state.answer = received
        else:
            state.answer, outcome, state.guard = closed
        return outcome

    def _stop_redirect(self, flow: http.HTTPFlow, state: FlowState) -> None:
        """Refuses a redirect: a client that followed it would send its plain text there. Operators still see it."""
        error = self._reported(Fault.REDIRECT, state)
        self._review.answered(flow, state, error)
        flow.response = answer_with(error, state.request_id, flow.request.method, state.family)
        outcome = outcome_of(error.code)
        self._gateway.fail(state.request_id, outcome, sent=True, code=error.code)
        self._log.ended(flow, state, outcome, error)
        self._states.remove(flow)

    async def error(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None and not flow.live:
            return
        if state is None or not state.cleared:
            await self._end_early(flow, state)
            raise exceptions.AddonHalt
        fault = state.fault or fault_of(flow)
        error = self._reported(fault, state) if fault is not None else None
        outcome, code = (outcome_of(error.code), error.code) if error is not None else ("cancelled", None)
        self._gateway.fail(state.request_id, outcome, was_sent(flow.request), code)
        self._review.failed(flow, state)
        self._log.ended(flow, state, outcome, error)
        answer_for(state.request_id, error, state.family)
        self._states.remove(flow)

    async def _end_early(self, flow: http.HTTPFlow, state: FlowState | None) -> None:
        """Logs a flow that failed before it was protected, or to a host that is not intercepted."""
        # Nothing was forwarded, so there is no text to show.
        flow.request.data.content = b""
        client = self._connections.get(flow) or self._clients.of(flow.client_conn)
        refusal = client.ended_by if client is not None else None
        if flow in self._invalid:
            refusal = BadRequest("The request could not be read.")
        if state is not None:
            if flow.response is None:
                answer_for(state.request_id, family=state.family)
                self._review.failed(flow, state)
            if not state.noted:
                state.noted = True
                outcome = refusal.code if refusal is not None else "cancelled"
                self._gateway.note(state.call(flow, b"", editable=False), outcome)
                await self._name_caller(flow, state)
            self._log.ended(flow, state, "cancelled" if refusal is None else "refused", refusal)
        elif flow in self._invalid or (refusal is None and (client is None or client.refusal is None)):
            fault = fault_of(flow)
            error, request_id = refusal or (fault.error() if fault is not None else None), None
            if error is not None and flow.response is None:
                request_id = new_request_id()
                answer_for(request_id, error)
            self._log.broken(flow.client_conn, error, request_id)

    def _reported(self, fault: Fault, state: FlowState) -> GatewayError:
        """Logs a fault of the upstream. Returns the error for the client."""
        name = state.forwarded.upstream if state.forwarded else ""
        fault.report(f"`{name}`" if name else self._host(state), state.request_id)
        return fault.error(name)

    def _host(self, state: FlowState) -> str:
        """Names the target host for the log if the settings intercept it; other hosts are not logged."""
        host, port, _ = state.target
        return f"host {host}" if self._intercepts(host, port) else "host (not shown)"

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Shapes the refusal; called by `fail_closed`."""
        self._refusals.shape(flow, error)
        if self._states.closing and flow.response is not None:
            flow.response.headers["connection"] = "close"
        if flow.request.timestamp_end is None:
            self._clients.answer_at_once(flow)


def _is_gemini(state: FlowState) -> bool:
    """Returns whether a call is one of Gemini's API, whose clients may send their key in the query."""
    if state.listener is Listener.PROXY:
        return is_google(state.target[0])
    return state.wire is not None and state.wire.family == "gemini"


def _redirects(response: http.Response) -> bool:
    return 300 <= response.status_code < 400
