"""The HTTP interface: routes only. What they do stands in `service`, `operations` and `pipeline`.

Complete by itself (`uvicorn gateway.app:create_app --factory`) and hosted in-process by the proxy's gateway listener.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.responses import Response

from gateway import __version__, schemas
from gateway.api_docs import add_docs
from gateway.errors import Unprocessable
from gateway.http_errors import add_error_handlers, error_responses
from gateway.http_routing import NativeRoute, caller_of
from gateway.json_body import dump
from gateway.models import Caller
from gateway.operations import Question
from gateway.service import Service
from gateway.settings import load_settings
from gateway.settlement import settlement_state
from gateway.usage import usage

type Limit = Annotated[int, Query(ge=1, le=500)]
type Offset = Annotated[int, Query(ge=0, le=2**53)]
type ById = Annotated[str, Path(min_length=1, max_length=128)]
type By = Annotated[Caller, Depends(caller_of)]

_READ = error_responses(401, 403, 404, 422, 429, 503)
_WRITE = error_responses(400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503)


def create_app(service: Service | None = None) -> FastAPI:
    """The application. Without a service it makes its own from the settings, and starts and stops it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if service is not None:
            yield
            return
        async with await Service.start(load_settings()) as own:
            app.state.service = own
            yield

    app = FastAPI(
        title="Privacy Gateway",
        version=__version__,
        description="Protects private text before model work, restores it afterwards, and keeps receipts.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    add_error_handlers(app)
    add_docs(app)
    app.include_router(_open_routes())
    app.include_router(_native_routes())
    return app


def _open_routes() -> APIRouter:
    router = APIRouter()

    @router.get("/healthz", summary="Health check")
    async def healthz(request: Request) -> schemas.Health:
        await _service(request).check()
        return schemas.Health(status="ok", version=__version__)

    return router


def _native_routes() -> APIRouter:
    router = APIRouter(prefix="/v1", route_class=NativeRoute)

    @router.post("/analyze", responses=_WRITE, summary="Risk, route and findings of a text; stores nothing")
    async def analyze(request: Request, body: schemas.AnalyzeRequest) -> schemas.AnalyzeReply:
        done = await _service(request).operations.analyze(_question(body))
        entities = [{**asdict(entity), "action": action} for entity, action in done.entities]
        return schemas.AnalyzeReply.model_validate(
            {
                "request_id": done.request_id,
                "risk": asdict(done.assessment.risk),
                "route": asdict(done.assessment.route),
                "entities": entities,
                "task_categories": done.assessment.task_categories,
                "warnings": [asdict(warning) for warning in done.assessment.warnings],
                "policy": asdict(done.policy.ref),
            }
        )

    @router.post("/protect", responses=_WRITE, summary="Protected text with the session that opens it")
    async def protect(request: Request, caller: By, body: schemas.ProtectRequest) -> schemas.ProtectReply:
        done = await _service(request).operations.protect(
            _question(body),
            caller,
            ttl_seconds=body.session_ttl_seconds,
            credentials=_credentials(body.session) if body.session else None,
        )
        return schemas.ProtectReply.model_validate(
            {
                "request_id": done.request_id,
                "protected_text": done.text,
                "transformations": [asdict(each) for each in done.transformations],
                "session": asdict(done.session),
                "risk": asdict(done.assessment.risk),
                "route": asdict(done.assessment.route),
                "warnings": [asdict(warning) for warning in done.assessment.warnings],
                "policy": asdict(done.policy.ref),
                "receipt": done.receipt.as_dict(),
            }
        )

    @router.post("/reconstruct", responses=_WRITE, summary="The session's own placeholders, opened")
    async def reconstruct(request: Request, caller: By, body: schemas.ReconstructRequest) -> Response:
        given = body.model_fields_set & {"text", "content"}
        if len(given) != 1:
            raise Unprocessable("Give exactly one of `text` and `content`.", param="text")
        name = given.pop()
        operations = _service(request).operations
        done = await operations.reconstruct(getattr(body, name), _credentials(body.session), caller)
        reply = {"request_id": done.request_id, name: done.content, "resolved": done.resolved}
        reply |= {"unresolved": list(done.unresolved), "receipt": done.receipt.as_dict()}
        return _json(reply)

    @router.post("/shard", responses=_WRITE, summary="Protected compartments that can be worked on apart")
    async def shard(request: Request, caller: By, body: schemas.ShardRequest) -> Response:
        done = await _service(request).operations.shard(
            _question(body),
            caller,
            ttl_seconds=body.session_ttl_seconds,
            max_compartments=body.max_compartments,
        )
        return _json(
            {
                "request_id": done.request_id,
                "compartments": [asdict(each) for each in done.sharded.compartments],
                "outline": done.sharded.outline.as_dict(),
                "session": asdict(done.session),
                "risk": asdict(done.assessment.risk),
                "route": asdict(done.assessment.route),
                "warnings": [asdict(warning) for warning in done.assessment.warnings],
                "policy": asdict(done.policy.ref),
                "receipt": done.receipt.as_dict(),
            }
        )

    @router.post("/playground/run", tags=["operator"], responses=_WRITE, summary="Protect, answer, guard and restore")
    async def playground(request: Request, caller: By, body: schemas.AnalyzeRequest) -> Response:
        return _json(await _service(request).playground(_question(body), caller))

    @router.get("/models", responses=_READ, summary="The model surfaces")
    async def models(request: Request) -> Response:
        return _json({"object": "list", "data": _service(request).surfaces.models()})

    @router.post("/chat/completions", responses=_WRITE, summary="Chat completions, protected")
    async def chat(request: Request, caller: By, body: dict[str, Any]) -> Response:
        service = _service(request)
        status, answer, request_id = await service.chat(body, caller, request.url.path, request.headers.raw)
        return Response(answer, status, {"x-svc-request-id": request_id}, media_type="application/json")

    @router.get("/policies", responses=_READ, summary="Built-in and custom policies")
    async def policies(request: Request, limit: Limit = 50, offset: Offset = 0) -> Response:
        found = _service(request).policies.list()
        data = [policy.document for policy in found[offset : offset + limit]]
        return _json(_page(data, len(found), limit, offset))

    @router.get("/policies/{policy_id}", responses=_READ, summary="Rules, version and hash of a policy")
    async def policy(request: Request, policy_id: ById) -> Response:
        found = _service(request).policies.get(policy_id)
        return _json(found.document)

    @router.post("/policies", tags=["operator"], responses=_WRITE, status_code=201, summary="A custom policy")
    async def create_policy(request: Request, body: dict[str, Any]) -> Response:
        made = await _service(request).policies.create(body)
        return Response(dump(made.document), 201, media_type="application/json")

    @router.get("/receipts", responses=_READ, summary="Metadata-only receipts, newest first")
    async def receipts(request: Request, caller: By, limit: Limit = 50, offset: Offset = 0) -> Response:
        rows, total = await _service(request).receipts.list(caller, limit, offset)
        return _json(_page([row.as_dict() for row in rows], total, limit, offset))

    @router.get("/receipts/{request_id}", responses=_READ, summary="One receipt, with its outcome")
    async def receipt(request: Request, caller: By, request_id: ById) -> Response:
        return _json((await _service(request).receipts.get(request_id, caller)).as_dict())

    @router.get("/receipts/{request_id}/verify", responses=_READ, summary="The receipt's chain, recomputed")
    async def verify(request: Request, caller: By, request_id: ById) -> Response:
        return _json((await _service(request).verify(request_id, caller)).as_dict())

    @router.get("/receipts/{request_id}/anchor-payload", responses=_READ, summary="What an anchor would commit to")
    async def anchor(request: Request, caller: By, request_id: ById) -> Response:
        return _json(await _service(request).receipts.anchor_payload(request_id, caller))

    @router.get("/usage", tags=["operator"], responses=_READ, summary="Aggregate meters")
    async def meters(request: Request) -> Response:
        return _json(await usage(_service(request).store))

    @router.get("/payments/x402", responses=_READ, summary="The disabled settlement state")
    async def settlement() -> Response:
        return _json(settlement_state())

    return router


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _question(body: schemas.AnalyzeRequest) -> Question:
    return Question(body.text, body.task, body.policy_id, body.privacy_mode)


def _credentials(session: schemas.SessionCredentials) -> tuple[str, str]:
    return session.session_id, session.session_token


def _page(data: list[Any], total: int, limit: int, offset: int) -> dict[str, Any]:
    return {"object": "list", "data": data, "total": total, "limit": limit, "offset": offset}


def _json(value: object) -> Response:
    return Response(dump(value), media_type="application/json")
