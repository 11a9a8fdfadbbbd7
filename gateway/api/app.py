"""Defines the application and its routes.

`uvicorn gateway.api.app:create_app --factory` runs it without a proxy; the gateway listener hosts it in-process.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, FastAPI, Path, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.telemetry import TelemetryConfig

from gateway import __version__
from gateway.api.error_handlers import add_error_handlers
from gateway.api.explaining import explaining
from gateway.api.home import home
from gateway.api.model_lists import found, listed, model_lists
from gateway.api.openapi import add_docs, operation_id
from gateway.api.playground.serving import playground as playground_site
from gateway.api.query_parameters import Limit, Offset, PolicyHash, Selected, SelectedPage
from gateway.api.routing import EveryAnswer, NativeRoute, caller_of
from gateway.api.schemas import chat, governance, receipts, text
from gateway.api.schemas.operations import documented
from gateway.api.schemas.parts import DocumentedAs, SessionCredentials
from gateway.api.server_logs import keep_private
from gateway.api.settlement import settlement_state
from gateway.auth.api_keys import users_of
from gateway.auth.key_audit import read_uses
from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import Unprocessable
from gateway.exchange.operations import ProtectedText, ShardedText
from gateway.exchange.state import Exchange
from gateway.http.metrics import CONTENT_TYPE, METRICS_PATH, exposition
from gateway.http.strict_json import dump
from gateway.models import Caller, Scope, SessionGrant
from gateway.policy.model import Policy
from gateway.receipts.client_view import answer_headers, shown_to
from gateway.receipts.filters import Filter
from gateway.usage import usage
from gateway.wires.error_shapes import family_of
from gateway.wires.unknown_calls import unknown_path

# FastAPI's telemetry would send rejected input in logs and spans to the collector that an `OTEL_…` variable names.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


type PolicyId = Annotated[str, Path(min_length=1, max_length=128, description="`id` of a policy.")]
type ModelName = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9_@][A-Za-z0-9_.:/@+-]{0,255}$",
        description="Name of a model. May contain slashes.",
        examples=["svc-demo"],
    ),
]
type RequestId = Annotated[str, Path(min_length=1, max_length=128, description="`request_id` of a response.")]
type AuthenticatedCaller = Annotated[Caller, Depends(caller_of)]
type ChatBody = Annotated[dict[str, Any], Body(), DocumentedAs(chat.ChatRequest)]
type PolicyBody = Annotated[dict[str, Any], Body(), DocumentedAs(governance.PolicyRequest)]


def create_app(container: Container | None = None) -> FastAPI:
    """Creates the application. Without `container`, it starts one from the settings and stops it at shutdown."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if container is not None:
            yield
            return
        keep_private()
        async with await Container.start(load_settings()) as own:
            app.state.container = own
            yield

    app = FastAPI(
        title="Privacy Gateway",
        version=__version__,
        description="Protects private text in requests to models, restores it in the answers, and keeps receipts. "
        "Every path that accepts GET accepts HEAD.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        generate_unique_id_function=operation_id,
        lifespan=lifespan,
    )
    app.state.container = container
    app.add_middleware(EveryAnswer)
    documented_routers = (_open_routes(), _operators_routes(), _native_routes(), explaining(), model_lists())
    routers = (*documented_routers, home(), playground_site())
    for router in routers:
        app.include_router(router)
    add_error_handlers(app, [route for router in routers for route in router.routes])
    add_docs(app)
    return app


@cache
def _open_routes() -> APIRouter:
    router = APIRouter()

    @router.get("/healthz", **documented("healthz", governance.HealthReply))
    async def healthz(request: Request) -> Response:
        _container(request).check()
        return _json({"status": "ok", "version": __version__})

    @router.get("/readyz", **documented("readyz", governance.HealthReply))
    async def readyz(request: Request) -> Response:
        return await healthz(request)

    @router.get("/livez", **documented("livez", governance.HealthReply))
    async def livez() -> Response:
        return _json({"status": "ok", "version": __version__})

    return router


def _operators_routes() -> APIRouter:
    router = APIRouter(route_class=NativeRoute)

    @router.get(METRICS_PATH, response_class=PlainTextResponse, **documented("metrics", str))
    async def metrics(request: Request) -> Response:
        return Response(exposition(_container(request).readings), media_type=CONTENT_TYPE)

    return router


@cache
def _native_routes() -> APIRouter:
    router = APIRouter(prefix="/v1", route_class=NativeRoute)

    @router.post("/analyze", **documented("analyze", text.AnalyzeReply))
    async def analyze(request: Request, caller: AuthenticatedCaller, body: text.AnalyzeRequest) -> Response:
        done = await _container(request).operations.analyze(body.question(), caller)
        return _json(
            {
                "request_id": request.state.request_id,
                "risk": asdict(done.assessment.risk),
                "route": asdict(done.assessment.route),
                "entities": [{**entity._asdict(), "action": action} for entity, action in done.entities],
                "task_categories": done.assessment.task_categories,
                "warnings": [asdict(warning) for warning in done.assessment.warnings],
                "policy": asdict(done.policy.ref),
                **({"corrections": counts} if done.applied is not None and (counts := done.applied.counts()) else {}),
            }
        )

    @router.post("/protect", **documented("protect", text.ProtectReply))
    async def protect(request: Request, caller: AuthenticatedCaller, body: text.ProtectRequest) -> Response:
        done = await _container(request).operations.protect(
            body.question(),
            caller,
            ttl_seconds=body.session_ttl_seconds,
            credentials=_credentials(body.session) if body.session else None,
        )
        request.state.receipt = done.receipt.ref
        return _json(
            {
                "request_id": done.receipt.request_id,
                "protected_text": done.text,
                "transformations": [each._asdict() for each in done.transformations],
                **_session_members(done, caller),
            }
        )

    @router.post("/reconstruct", **documented("reconstruct", text.ReconstructReply))
    async def reconstruct(request: Request, caller: AuthenticatedCaller, body: text.ReconstructRequest) -> Response:
        given = body.model_fields_set & {"text", "content"}
        if len(given) != 1:
            raise Unprocessable("Send exactly one of `text` and `content`.", param="text")
        name = given.pop()
        operations = _container(request).operations
        done = await operations.reconstruct(getattr(body, name), _credentials(body.session), caller)
        request.state.receipt = done.receipt.ref
        reply = {"request_id": done.receipt.request_id, name: done.content, "resolved": done.resolved}
        reply |= {"unresolved": list(done.unresolved), "receipt": shown_to(caller, done.receipt.as_dict())}
        return _json(reply)

    @router.post("/shard", **documented("shard", text.ShardReply))
    async def shard(request: Request, caller: AuthenticatedCaller, body: text.ShardRequest) -> Response:
        done = await _container(request).operations.shard(
            body.question(),
            caller,
            ttl_seconds=body.session_ttl_seconds,
            max_compartments=body.max_compartments,
        )
        request.state.receipt = done.receipt.ref
        return _json(
            {
                "request_id": done.receipt.request_id,
                "compartments": [asdict(each) for each in done.sharded.compartments],
                "outline": done.sharded.outline.as_dict(),
                **_session_members(done, caller),
            }
        )

    @router.post("/sessions/extend", **documented("extend_session", text.ExtendSessionReply))
    async def extend_session(
        request: Request, caller: AuthenticatedCaller, body: text.ExtendSessionRequest
    ) -> Response:
        operations = _container(request).operations
        grant = await operations.extend(_credentials(body.session), caller, body.session_ttl_seconds)
        return _json({"request_id": request.state.request_id, "session": _session_member(grant)})

    @router.post("/sessions/revoke", **documented("revoke_session", text.RevokeSessionReply))
    async def revoke_session(request: Request, caller: AuthenticatedCaller, body: text.SessionRequest) -> Response:
        await _container(request).vault.revoke(*_credentials(body.session), caller)
        revoked = {"session_id": body.session.session_id, "revoked": True}
        return _json({"request_id": request.state.request_id, **revoked})

    @router.post("/playground/run", **documented("playground", text.PlaygroundReply))
    async def playground(request: Request, caller: AuthenticatedCaller, body: text.PlaygroundRequest) -> Response:
        exchange, answer = await _container(request).chat.playground(body.question(), caller)
        _report_exchange(request, exchange)
        return _json(answer)

    @router.get("/models", **documented("models", chat.ModelListReply))
    async def models(request: Request) -> Response:
        return await listed(request, family_of(request.headers.raw))

    @router.get("/models/{model:path}", **documented("model", chat.ModelReply))
    async def model(request: Request, model: ModelName) -> Response:
        return found(request, model, family_of(request.headers.raw))

    @router.post("/chat/completions", **documented("chat", chat.ChatReply))
    async def chat_completions(request: Request, caller: AuthenticatedCaller, body: ChatBody) -> Response:
        container, path = _container(request), request.url.path
        wire = container.wires.serving("POST", path)
        if wire is None:
            raise unknown_path(path)
        path = f"{path}?{request.url.query}" if request.url.query else path
        exchange, status, answer = await container.chat.answer(wire, body, caller, path, request.headers.raw)
        _report_exchange(request, exchange)
        is_stream = exchange.framing is not None and status < 400 and not answer.startswith(b"{")
        media_type = "text/event-stream" if is_stream else "application/json"
        return Response(answer, status, answer_headers(exchange.receipt.ref), media_type=media_type)

    @router.get("/policies", **documented("policies", governance.PolicyListReply))
    async def policies(
        request: Request, caller: AuthenticatedCaller, limit: Limit = 50, offset: Offset = 0
    ) -> Response:
        found = _container(request).policies.list()
        data = [_policy(policy, caller) for policy in found[offset : offset + limit]]
        return _json(_page(data, len(found), limit, offset))

    @router.get("/policies/{policy_id}", **documented("policy", governance.PolicyReply))
    async def policy(request: Request, caller: AuthenticatedCaller, policy_id: PolicyId, hash: PolicyHash) -> Response:
        policies = _container(request).policies
        found = policies.by_hash(hash, policy_id) if hash else policies.get(policy_id)
        return _json(_policy(found, caller))

    @router.post("/policies", **documented("create_policy", governance.PolicyReply))
    async def create_policy(request: Request, caller: AuthenticatedCaller, body: PolicyBody) -> Response:
        made = await _container(request).policies.create(body, by=caller.key_id)
        headers = {"location": f"/v1/policies/{made.id}"}
        return Response(dump(made.document), 201, headers, media_type="application/json")

    @router.delete("/policies/{policy_id}", **documented("retire_policy", governance.RetiredPolicyReply))
    async def retire_policy(request: Request, caller: AuthenticatedCaller, policy_id: PolicyId) -> Response:
        container = _container(request)
        needed_by = await users_of(policy_id, container.keys, container.settings.default_policy)
        retired = await container.policies.retire(policy_id, needed_by=needed_by, by=caller.key_id)
        return _json({"request_id": request.state.request_id, **asdict(retired.ref), "retired": True})

    @router.get("/receipts", **documented("receipts", receipts.ReceiptListReply))
    async def list_receipts(request: Request, caller: AuthenticatedCaller, query: SelectedPage) -> Response:
        await _check_types(request, query, caller)
        rows, total = await _container(request).receipts.list(caller, query.limit, query.offset, query)
        return _json(_page([shown_to(caller, row.as_dict()) for row in rows], total, query.limit, query.offset))

    @router.post("/receipt-search", **documented("find_receipts", receipts.FoundReceiptsReply))
    async def find_receipts(
        request: Request, body: receipts.FindReceiptsRequest, limit: Limit = 50, offset: Offset = 0
    ) -> Response:
        container = _container(request)
        found = await container.receipts.find(container.value_digests.sought(body.value), limit, offset)
        rows = [row.as_dict() for row in found.receipts]
        return _json({**_page(rows, found.total, limit, offset), "complete": found.complete})

    @router.get("/receipts/{request_id}", **documented("receipt", receipts.ReceiptReply | receipts.DamagedReceiptReply))
    async def receipt(request: Request, caller: AuthenticatedCaller, request_id: RequestId) -> Response:
        return _json(shown_to(caller, (await _container(request).receipts.get(request_id, caller)).as_dict()))

    @router.get("/receipts/{request_id}/verify", **documented("verify", receipts.VerificationReply))
    async def verify(request: Request, caller: AuthenticatedCaller, request_id: RequestId) -> Response:
        return _json(shown_to(caller, (await _container(request).verify(request_id, caller)).as_dict()))

    @router.get("/receipts/{request_id}/anchor-payload", **documented("anchor", receipts.AnchorReply))
    async def anchor(request: Request, caller: AuthenticatedCaller, request_id: RequestId) -> Response:
        return _json(shown_to(caller, await _container(request).receipts.anchor_payload(request_id, caller)))

    @router.get("/usage", **documented("usage", governance.UsageReply))
    async def meters(request: Request, caller: AuthenticatedCaller, query: Selected) -> Response:
        await _check_types(request, query, caller)
        return _json(await usage(_container(request).store, query.sought()))

    @router.get("/keys/audit", **documented("key_audit", governance.KeyUseListReply))
    async def key_audit(request: Request, caller: AuthenticatedCaller, query: SelectedPage) -> Response:
        await _check_types(request, query, caller)
        store, calls_of = _container(request).store, _container(request).wires.calls_of
        data, total = await store.read(
            lambda stored: read_uses(stored, query.limit, query.offset, query.sought(), calls_of)
        )
        return _json(_page(data, total, query.limit, query.offset))

    @router.get("/payments/x402", **documented("settlement", governance.SettlementReply))
    async def settlement() -> Response:
        return _json(settlement_state())

    return router


def _container(request: Request) -> Container:
    container: Container = request.app.state.container
    return container


async def _check_types(request: Request, query: Filter, caller: Caller) -> None:
    """Raises Unprocessable for unknown types. Clients do not learn which types policies define, or others had found."""
    container = _container(request)
    if query.type and caller.scope is Scope.OPERATOR:
        found = await container.store.read(lambda stored: stored.usage.names("entities"))
        own = (name for policy in container.policies.list() for name in policy.own_types)
        query.check_types(found, lambda: {*container.engines.types, *own})


def _report_exchange(request: Request, exchange: Exchange) -> None:
    """Hands the receipt and the guard's verdict to the host of this application, which must not read the answer."""
    request.state.receipt = exchange.receipt.ref
    if exchange.verdict is not None:
        request.state.guard = exchange.verdict.as_dict()


def _credentials(session: SessionCredentials) -> tuple[str, str]:
    return session.session_id, session.session_token


def _policy(policy: Policy, caller: Caller) -> dict[str, Any]:
    """Returns what the caller may see of a policy: terms and patterns are often a company's secrets."""
    hidden = frozenset[str]() if caller.scope is Scope.OPERATOR else governance.OPERATORS_ONLY
    return {name: member for name, member in policy.document.items() if name not in hidden or not member}


def _session_members(done: ProtectedText | ShardedText, caller: Caller) -> dict[str, Any]:
    """Returns the members that all responses with a session share."""
    return {
        "session": _session_member(done.session),
        "risk": asdict(done.assessment.risk),
        "route": asdict(done.assessment.route),
        "warnings": [asdict(warning) for warning in done.assessment.warnings],
        "policy": asdict(done.policy.ref),
        "receipt": shown_to(caller, done.receipt.as_dict()),
    }


def _session_member(grant: SessionGrant) -> dict[str, str]:
    return {**asdict(grant), "expires_at": grant.expires_at.isoformat().replace("+00:00", "Z")}


def _page(data: list[Any], total: int, limit: int, offset: int) -> dict[str, Any]:
    return {"object": "list", "data": data, "total": total, "limit": limit, "offset": offset}


def _json(value: object) -> Response:
    return Response(dump(value), media_type="application/json")
