"""The fail-closed wrapper around every hook of the gateway's addons.

mitmproxy logs an addon's exception and forwards the flow unchanged. This wrapper turns an exception into an error
response, removes body and destination from the request, and keeps the flow from later addons. `Refusals` completes it
for the client, the record and operators.
"""

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from mitmproxy import exceptions, http

from addons.flow_state import FlowStates
from addons.forwarding import was_sent
from addons.mitm_errors import answer_with
from gateway.errors import GatewayError, InternalError, Unavailable
from gateway.exchange.messages import Gateway
from gateway.ids import new_request_id
from gateway.models import Family
from gateway.receipts.drafts import outcome_of

if TYPE_CHECKING:
    # It loads all of mitmproxy, which `ca` does not need.
    from addons.operator_view import Review
    from addons.request_log import RequestLog

# The destination of unprotected flows. RFC 2606 reserves `.invalid`, so the name never resolves.
DEAD_END = ("unprotected.invalid", 1)

_log = logging.getLogger(__name__)

type Hook = Callable[[Any, http.HTTPFlow], Awaitable[None] | None]


def disarm(flow: http.HTTPFlow) -> None:
    """Points the flow at the dead end, so that its bytes cannot reach any host."""
    flow.request.data.host, flow.request.data.port = DEAD_END
    flow.request.data.scheme = b"http"
    flow.request.data.authority = b""


def refuse(flow: http.HTTPFlow, error: GatewayError, request_id: str, family: Family = "openai") -> None:
    """Answers the client with `error` and removes body and destination from the request."""
    disarm(flow)
    flow.request.content = b""
    flow.response = answer_with(error, request_id, flow.request.method, family)


def end_connection(flow: http.HTTPFlow, error: GatewayError, log: "RequestLog") -> None:
    """Logs a refusal that has no state, and closes the connection after it; called by an addon's `refused`."""
    assert flow.response is not None
    log.refused(flow, error)
    flow.response.headers["connection"] = "close"


class Refusals:
    """Formats refusals for the client's wire, records their outcome, and shows them to operators."""

    def __init__(self, states: FlowStates, review: "Review", gateway: Gateway, log: "RequestLog") -> None:
        self._states = states
        self._review = review
        self._gateway = gateway
        self._log = log

    def shape(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Replaces the plain answer; called by an addon's `refused`."""
        state = self._states.of(flow)
        if state is None:
            self._log.refused(flow, error)
            return
        sent = was_sent(flow.request)
        outcome = "failed" if sent and isinstance(error, InternalError) else outcome_of(error.code)
        refuse(flow, error, state.request_id, state.family)
        if isinstance(error, InternalError):
            # The message asks the client to give the operator this id.
            _log.error("%s %s", error.message, state.request_id)
        self._gateway.fail(state.request_id, outcome, sent, error.code)
        if not state.noted:
            state.noted = True
            self._gateway.note(state.call(flow, b"", editable=False), error.code)
        self._review.refused(flow, state, error)
        self._log.ended(flow, state, outcome, error)


def fail_closed(hook: Hook) -> Callable[[Any, http.HTTPFlow], Awaitable[None]]:
    """Wraps a hook. The addon's `refused(flow, error)` may shape the answer; if that fails, the plain one is sent."""

    @functools.wraps(hook)
    async def guarded(self: Any, flow: http.HTTPFlow) -> None:
        try:
            result = hook(self, flow)
            if inspect.isawaitable(result):
                await result
        except exceptions.AddonHalt:
            raise
        except BaseException as error:
            known = error if isinstance(error, GatewayError) else _unexpected(error)
            refuse(flow, known, new_request_id())
            try:
                self.refused(flow, known)
            except Exception as shaping:  # noqa: BLE001 - the plain answer is already set
                _unexpected(shaping)
            if not isinstance(error, Exception):
                raise
            raise exceptions.AddonHalt from None

    return guarded


def _unexpected(error: BaseException) -> GatewayError:
    if isinstance(error, asyncio.CancelledError):
        # The program is ending; this is no failure.
        return Unavailable("The gateway is stopping; nothing was sent.", code="stopping", retry_after=1)
    # The message of an exception may hold private text; its type and location do not.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}" if trace else "unknown"
    _log.error("a hook failed: %s at %s", type(error).__name__, place)
    return InternalError("The gateway failed to handle this request; nothing was sent.")
