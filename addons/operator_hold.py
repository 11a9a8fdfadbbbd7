"""Holding a request back: an operator looks, edits, lets go or stops. The last addon of the chain.

Held is the flow that operators see; the one that is served waits here. When it is let go, what was edited is checked
as if a client had sent it, and only then put into the served flow. Nothing but the body may have been edited.
"""

import asyncio
from collections.abc import Awaitable

from mitmproxy import http

from addons.fail_closed import fail_closed
from addons.flow_state import FlowState, FlowStates
from addons.operator_view import Review
from addons.refusals import Refusals
from gateway.errors import EditRefused, Forbidden, GatewayError
from gateway.ipc.messages import Gateway

# mitmproxy wakes nobody when a held flow is killed or deleted, so it has to be looked at.
_LOOK_SECONDS = 0.05
_STOPPED = "stopped_by_operator"


class OperatorHold:
    """The addon. Requests that nobody holds back pass it untouched."""

    def __init__(self, gateway: Gateway, states: FlowStates, review: Review, refusals: Refusals) -> None:
        self._gateway = gateway
        self._states = states
        self._review = review
        self._refusals = refusals

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        return self._hold(flow) if flow.intercepted else None

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        # What an operator would hold is a likeness; the client's answer does not wait for it.
        flow.resume()

    async def _hold(self, flow: http.HTTPFlow) -> None:
        flow.resume()
        state = self._states.of(flow)
        if state is None or state.shown is None:
            return
        self._review.hold(state.shown)
        while self._review.is_held(state.shown):  # noqa: ASYNC110 - nobody would set an event
            await asyncio.sleep(_LOOK_SECONDS)
        if state.shown.intercepted or state.shown.error is not None:
            raise Forbidden("An operator stopped this request; nothing was sent.", code=_STOPPED)
        if _edited(flow.request, state.shown.request):
            await self._amend(flow, state, state.shown.request.raw_content or b"")

    async def _amend(self, flow: http.HTTPFlow, state: FlowState, edited: bytes) -> None:
        amended = await self._gateway.edit(state.request_id, edited)
        assert amended.receipt is not None
        flow.request.content = amended.body
        self._review.edited(flow, state, amended.receipt)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Called by the boundary."""
        state = self._states.of(flow)
        if state is not None:
            state.cleared = False
        self._refusals.shape(flow, error, "cancelled" if error.code == _STOPPED else "refused")


def _edited(released: http.Request, shown: http.Request) -> bool:
    """Whether the body was edited. Raises EditRefused where anything else was."""
    places = ("host", "port", "method", "scheme", "authority", "path", "http_version", "trailers")
    same = all(getattr(released.data, place) == getattr(shown.data, place) for place in places)
    if not same or _fields(released) != _fields(shown):
        raise EditRefused.because("Only its body can be edited.")
    return released.raw_content != shown.raw_content


def _fields(request: http.Request) -> list[tuple[bytes, bytes]]:
    # mitmproxy itself adapts the length to an edited body.
    return [field for field in request.headers.fields if field[0].lower() != b"content-length"]
