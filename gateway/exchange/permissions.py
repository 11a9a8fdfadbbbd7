"""Refuses calls that the caller's key does not permit, and destinations that the route does not."""

from collections.abc import Iterable

from gateway.auth.key_permissions import check_models, check_scope
from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.errors import BadRequest, Forbidden, GatewayError, UnsupportedMedia
from gateway.exchange.destination import Destination
from gateway.models import Caller, Route, RouteDecision, Scope, Trust
from gateway.policy.model import Policy
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.gemini_request import named_requests
from gateway.wires.reading import deployment_in, is_opaque

NO_MODEL = (
    "`model`, in the body or in the path, holds private text or something else than the name of a model, and nothing "
    "was sent; name a model alone."
)


def check_call(wire: Wire, body: Body, caller: Caller, destination: Destination, path: str) -> None:
    """Raises Forbidden unless the caller's key permits the call and its model. A read of an earlier answer has none."""
    check_scope(caller, Scope.CHAT)
    asked = wire.model(body, path)
    if body or asked != CONFIGURED_UPSTREAM:
        others = [*_fallbacks(body), deployment_in(destination.path)]
        if wire.family == "gemini":
            others += [name for name in map(_named, named_requests(body)) if name not in (asked, destination.model)]
        check_models(caller, asked, destination.model, [each for each in others if each is not None])


def _named(request: Body) -> object:
    """Returns the model that an object of a Gemini request names, as a path would name it."""
    name = request.get("model")
    return name.rpartition("/models/")[2].removeprefix("models/") if isinstance(name, str) else name


def _fallbacks(body: Body) -> list[object]:
    """Returns the models that a router such as OpenRouter or LiteLLM may ask instead, in whatever form they are."""
    found = [body[name] for name in ("models", "fallbacks") if body.get(name) is not None]
    entries = [each for value in found for each in (value if isinstance(value, list) else [value])]
    return [each.get("model", each) if isinstance(each, dict) else each for each in entries]


def check_form(conversation: Conversation, policy: Policy) -> None:
    """Raises BadRequest for a stream, UnsupportedMedia for attachments, unless the policy allows them."""
    if conversation.stream and not policy.streaming.allowed:
        message = "The policy does not allow streamed answers; send `stream` false."
        raise BadRequest(message, code="streaming_not_supported", param="stream")
    if conversation.files and policy.handling_of("other") == "refuse":
        message = (
            "Parts that are not text cannot be protected; the member `attachments` of the policy can let them pass."
        )
        raise UnsupportedMedia(message, code="attachment_refused", param="messages")


def check_opaque(values: Iterable[str], sent: bytes) -> None:
    """Raises BadRequest for a hidden value that is also in a member that cannot be changed, and would be sent there."""
    if any(is_opaque(value) and value.encode() in sent for value in values):
        message = "A secret of the request is also in a signature or encrypted member, which cannot be changed."
        raise BadRequest(message)


def refusal(route: Route, destination: Destination) -> GatewayError | None:
    """Returns the error if the route does not allow the destination, else None."""
    why = " ".join(route.reasons)
    if route.decision is RouteDecision.BLOCKED:
        return Forbidden(f"The policy does not let this request leave. {why}".strip(), code="blocked_by_policy")
    if route.decision is RouteDecision.LOCAL and destination.trust is not Trust.LOCAL:
        message = f"This request may go to a local surface only. {why}".strip()
        return Forbidden(message, code="local_surface_required", param="model")
    return None
