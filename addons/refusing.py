"""One way to refuse a client once the boundary has answered: in the words of its wire, told to operators, recorded."""

from collections.abc import Callable

from mitmproxy import http

from addons.boundary import refuse
from addons.review import Review
from addons.state import Visits
from gateway.errors import GatewayError
from gateway.pipeline import Exchange
from gateway.receipts import Followed


class Refusals:
    """Shapes refusals. `fail` records what became of an exchange."""

    def __init__(self, visits: Visits, review: Review, fail: Callable[[Exchange, str], None]) -> None:
        self._visits = visits
        self._review = review
        self._fail = fail

    def shape(self, flow: http.HTTPFlow, error: GatewayError, followed: Followed, outcome: str) -> None:
        """Called by an addon's `refused`, with what was written for the request so far."""
        visit = self._visits.of(flow)
        if visit is None:
            return
        body = visit.wire.error_body(error, visit.request_id) if visit.wire else None
        refuse(flow, error, visit.request_id, body)
        if visit.exchange is not None:
            self._fail(visit.exchange, outcome)
        self._review.refused(flow, visit, error, followed)
