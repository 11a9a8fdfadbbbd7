"""One way to refuse a client once the boundary has answered: in the words of its wire, told to operators, recorded."""

from mitmproxy import http

from addons.fail_closed import refuse
from addons.flow_state import FlowStates
from addons.operator_view import Review
from gateway.errors import GatewayError
from gateway.ipc.messages import Gateway


class Refusals:
    """Shapes refusals, and has the gateway record them."""

    def __init__(self, states: FlowStates, review: Review, gateway: Gateway) -> None:
        self._states = states
        self._review = review
        self._gateway = gateway

    def shape(self, flow: http.HTTPFlow, error: GatewayError, outcome: str) -> None:
        """Called by an addon's `refused`."""
        state = self._states.of(flow)
        if state is None:
            return
        body = state.wire.error_body(error, state.request_id) if state.wire else None
        refuse(flow, error, state.request_id, body)
        self._gateway.fail(state.request_id, outcome)
        self._review.refused(flow, state, error)
