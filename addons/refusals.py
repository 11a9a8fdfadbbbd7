"""Completes a refusal: formats it for the client's wire, records the outcome, and shows it to operators."""

from mitmproxy import http

from addons.fail_closed import refuse
from addons.flow_state import FlowStates
from addons.operator_view import Review
from gateway.errors import GatewayError
from gateway.ipc.messages import Gateway


class Refusals:
    """Formats refusals and has the gateway record them."""

    def __init__(self, states: FlowStates, review: Review, gateway: Gateway) -> None:
        self._states = states
        self._review = review
        self._gateway = gateway

    def shape(self, flow: http.HTTPFlow, error: GatewayError, outcome: str) -> None:
        """Replaces the plain answer of `fail_closed`; called by an addon's `refused`."""
        state = self._states.of(flow)
        if state is None:
            return
        body = state.wire.error_body(error, state.request_id) if state.wire else None
        refuse(flow, error, state.request_id, body)
        self._gateway.fail(state.request_id, outcome)
        self._review.refused(flow, state, error)
