"""The routes that say what was hidden, and why."""

from dataclasses import asdict
from functools import cache
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response

from gateway.api.routing import NativeRoute, caller_of
from gateway.api.schemas import findings
from gateway.api.schemas.operations import documented
from gateway.container import Container
from gateway.http.strict_json import dump
from gateway.models import Caller

type AuthenticatedCaller = Annotated[Caller, Depends(caller_of)]
type RequestId = Annotated[
    str, Path(min_length=1, max_length=128, description="`x-svc-request-id` or `request_id` of a response.")
]


@cache
def explaining() -> APIRouter:
    router = APIRouter(prefix="/v1", route_class=NativeRoute)

    @router.post("/explain", **documented("explain", findings.ExplainReply))
    async def explain(request: Request, caller: AuthenticatedCaller, body: findings.ExplainRequest) -> Response:
        container: Container = request.app.state.container
        done = await container.operations.explain(body.question(), caller)
        reply = {
            "request_id": request.state.request_id,
            "findings": [each._asdict() for each in done.explanation.findings],
            "marked_text": done.explanation.marked_text,
            "policy": asdict(done.policy.ref),
        }
        return Response(dump(reply), media_type="application/json")

    @router.get("/requests/{request_id}/findings", **documented("findings", findings.FindingsReply))
    async def recent(request: Request, caller: AuthenticatedCaller, request_id: RequestId) -> Response:
        container: Container = request.app.state.container
        found = container.recent_findings.get(caller, request_id)
        rows = [each._asdict() for each in found.findings]
        reply = {"request_id": request_id, **found._asdict(), "findings": rows}
        return Response(dump(reply), media_type="application/json")

    return router
