"""Prepares the restoring of streamed answers while their requests are on the way to the upstream.

The first event then waits for none of it. Runs after the addons that hold requests, since an edit changes what is
restored.
"""

from asyncio import Future, ensure_future

from mitmproxy import http

from addons.flow_state import FlowState, FlowStates
from gateway.exchange.messages import Gateway, Listener
from gateway.exchange.streaming import AnswerStream
from gateway.wires import Wire


class StreamRestorers:
    """The addon. Answers may have at most `limit` bytes."""

    def __init__(self, gateway: Gateway, states: FlowStates, limit: int) -> None:
        self._gateway = gateway
        self._states = states
        self._limit = limit

    def request(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None or not state.cleared or state.forwarded is None or not state.forwarded.streams:
            return
        if state.wire is not None and flow.request.http_version != "HTTP/1.0":
            state.restorer = ensure_future(self._restorer(state, state.wire))
            state.restorer.add_done_callback(_note_failure)

    async def _restorer(self, state: FlowState, wire: Wire) -> AnswerStream | None:
        plan = await self._gateway.stream_plan(state.request_id, state.listener is Listener.GATEWAY)
        return AnswerStream(wire, plan, limit=self._limit) if plan is not None else None


def _note_failure(done: Future[AnswerStream | None]) -> None:
    """Takes note of a failure that nobody awaits, since the upstream never answered."""
    if not done.cancelled():
        done.exception()
