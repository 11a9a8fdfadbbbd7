"""Describes each operation for the OpenAPI document: purpose, scope, response, errors and links.

operations.toml holds the descriptions. `documented` passes one to the route's decorator in `gateway.api.app`.
"""

from dataclasses import dataclass
from itertools import accumulate
from operator import or_
from typing import Any

from gateway.api.schemas.errors import responses_for
from gateway.detection.data_files import read_toml
from gateway.http.strict_json import TOML

SCOPE = "x-svc-scope"
"""Member of an operation in the OpenAPI document: the scope that the key needs. Absent if any key, or none, will do."""

_TOML_EXAMPLE = 'id = "acme"\ntitle = "Acme"\nextends = "default"\n\n[rules.financial]\naction = "mask"\n'

_TABLE = read_toml(__file__)
# Each group has the codes of those before it, too.
_GROUPS: dict[str, frozenset[str]] = {name: frozenset(codes.split()) for name, codes in _TABLE.pop("common").items()}
_COMMON = dict(zip(_GROUPS, accumulate(_GROUPS.values(), or_), strict=True))


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. The members are those of operations.toml; `errors` includes the common ones."""

    summary: str
    description: str
    tag: str
    errors: frozenset[str]
    status: int = 200
    scope: str | None = None
    receipt_at: str | None = None
    reconstruct_at: str | None = None
    policy_at: str | None = None
    policy_by: tuple[str, ...] = ("id",)
    header: str | None = None
    takes_toml: bool = False

    def links(self) -> dict[str, Any]:
        """Returns the links to operations that continue with the response."""
        found: dict[str, Any] = {}
        if self.reconstruct_at is not None:
            credentials = {name: f"$response.body#/session/{name}" for name in ("session_id", "session_token")}
            body = {"text": f"$response.body#{self.reconstruct_at}", "session": credentials}
            found["reconstruct"] = {"operationId": "reconstruct", "requestBody": body}
            for name in ("extend_session", "revoke_session"):
                found[name] = {"operationId": name, "requestBody": {"session": credentials}}
        if self.receipt_at is not None:
            parameters = {"request_id": f"$response.body#{self.receipt_at}"}
            found |= {name: {"operationId": name, "parameters": parameters} for name in ("receipt", "verify", "anchor")}
        if self.policy_at is not None:
            places = {name: f"$response.body#{self.policy_at}/{name}" for name in self.policy_by}
            parameters = {"policy_id" if name == "id" else name: place for name, place in places.items()}
            found["policy"] = {"operationId": "policy", "parameters": parameters}
        return found


def _operation(row: dict[str, Any]) -> Operation:
    errors = _COMMON[row.pop("common")].union(row.pop("errors", ()))
    if (scope := row.get("scope")) is not None:
        errors |= {"forbidden" if scope == "operator" else "scope_not_permitted"}
    return Operation(**row, errors=errors)


OPERATIONS = {name: _operation(row) for name, row in _TABLE.items()}


def documented(name: str, reply: Any) -> dict[str, Any]:
    """Returns the keyword arguments for the decorator of a route that answers with `reply`.

    The name of the route is also the operation's id.
    """
    operation = OPERATIONS[name]
    done: dict[str, Any] = {"description": "Success."}
    if links := operation.links():
        done["links"] = links
    headers = {"x-svc-request-id"} if "unauthorized" in operation.errors else set()
    headers |= {operation.header} if operation.header is not None else set()
    if headers:
        done["headers"] = {header: {"required": True, "schema": {"type": "string"}} for header in sorted(headers)}
    extra: dict[str, Any] = {SCOPE: operation.scope} if operation.scope is not None else {}
    if operation.takes_toml:
        extra["requestBody"] = {"content": {TOML: {"schema": {"type": "string"}, "example": _TOML_EXAMPLE}}}
    return {
        "name": name,
        "summary": operation.summary,
        "description": operation.description,
        "tags": [operation.tag],
        "response_model": reply,
        "status_code": operation.status,
        "responses": {operation.status: done, **responses_for(operation.errors)},
        "openapi_extra": extra,
    }
