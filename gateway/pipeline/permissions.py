"""Refuses calls that the caller's key does not permit, and destinations that the route does not."""

from gateway.auth.grants import check_models, check_scope
from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.errors import Forbidden, GatewayError
from gateway.models import Caller, Route, RouteDecision, Scope, Trust
from gateway.pipeline.destination import Destination
from gateway.wires import Body, Wire


def check_call(wire: Wire, body: Body, caller: Caller, destination: Destination, path: str) -> None:
    """Raises Forbidden unless the caller's key permits the call and its model. A read of an earlier answer has none."""
    check_scope(caller, Scope.CHAT)
    asked = wire.model(body, path)
    if body or asked != CONFIGURED_UPSTREAM:
        check_models(caller, asked, destination.model, body.get("models"))


def refusal(route: Route, destination: Destination) -> GatewayError | None:
    """Returns the error if the route does not allow the destination, else None."""
    why = " ".join(route.reasons)
    if route.decision is RouteDecision.BLOCKED:
        return Forbidden(f"The policy does not let this request leave. {why}".strip(), code="blocked_by_policy")
    if route.decision is RouteDecision.LOCAL and destination.trust is not Trust.LOCAL:
        message = f"This request may go to a local surface only. {why}".strip()
        return Forbidden(message, code="local_surface_required", param="model")
    return None
