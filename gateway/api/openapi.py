"""Serves the OpenAPI document, and a page for it at /docs with the assets of `fastapi-offline`, not from a CDN."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from gateway.api.model_lists import model_lists
from gateway.api.schemas.errors import ErrorReply
from gateway.http.strict_json import TOML
from gateway.models import Family
from gateway.wires.base import Wires

_ASSETS = Path(fastapi_offline.__file__).parent / "static"
_SCRIPT = re.compile(r"<script>([^<]*)</script>")
PROVIDER = "x-svc-provider"
"""Member of an operation that the API of a provider defines: whose."""

_APIS: dict[Family, str] = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "bedrock": "Amazon Bedrock",
    "ollama": "Ollama",
    "cohere": "Cohere",
}
_ANY_KEY: list[dict[str, list[str]]] = [{"bearer": []}, {"key": []}]
_KEYS = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A gateway key, in the header where chat-completions clients send their API key.",
    },
    "key": {
        "type": "apiKey",
        "in": "header",
        "name": "X-SVC-Key",
        "description": "A gateway key. `Authorization` is then forwarded to the upstream.",
    },
}


def operation_id(route: APIRoute) -> str:
    """Returns the operation id, from which code generators name methods."""
    return route.name


def _add_keys_and_errors(document: dict[str, Any]) -> dict[str, Any]:
    """Adds the security schemes, the error schema and names for inline request bodies."""
    components = document.setdefault("components", {})
    components["securitySchemes"] = _KEYS
    error = ErrorReply.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"] |= error.pop("$defs") | {ErrorReply.__name__: error}
    for methods in document["paths"].values():
        for operation in methods.values():
            for kind, media in operation.get("requestBody", {}).get("content", {}).items():
                if kind == TOML:
                    continue
                media["schema"] = _named_schema(media["schema"], operation["operationId"], components["schemas"])
            operation["security"] = _ANY_KEY if "401" in operation["responses"] else []
    _add_calls_of_providers(document)
    return document


def _add_calls_of_providers(document: dict[str, Any]) -> None:
    """Adds the calls that the wires serve, which are no routes of the application, and the other lists of models."""
    calls = [(*route, wire.family, wire.stream is not None) for wire in Wires.discover() for route in wire.routes]
    for route in model_lists().routes:
        path = str(getattr(route, "path", "")).replace(":path", "")
        family: Family = "gemini" if "v1beta" in path else "ollama" if path.startswith("/api/") else "openai"
        calls.append(("GET", path, family, False))
    for method, path, family, is_streamed in calls:
        # Some are native operations as well.
        methods = document["paths"].setdefault(path, {})
        methods.setdefault(method.lower(), _call_of_provider(method, path, family, is_streamed))


def _call_of_provider(method: str, path: str, family: Family, is_streamed: bool) -> dict[str, Any]:
    anything = {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
    streamed = {"text/event-stream": {"schema": {"type": "string"}}} if is_streamed else {}
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{method} {path}").strip("_").lower(),
        "tags": ["Calls of providers' APIs"],
        "summary": f"{_APIS[family]}: {re.sub(r'^/v1(beta)?', '', path)}",
        "description": "Body, answer and errors are those of the provider's API. docs/wires.md says what is protected.",
        PROVIDER: family,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"{(\w+)}", path)
        ],
        "responses": {
            "200": {"description": "Success.", "content": {**anything, **streamed}},
            "default": {"description": "An error in the shape of the provider's API.", "content": anything},
        },
        "security": _ANY_KEY,
    }
    return operation | ({"requestBody": {"required": True, "content": anything}} if method == "POST" else {})


def _named_schema(schema: dict[str, Any], operation: str, schemas: dict[str, Any]) -> dict[str, Any]:
    """Returns a reference to the schema of a request body. Names the schema after the operation if it has no name."""
    if "$ref" in schema:
        return schema
    name = f"{operation.title()}Request"
    schemas[name] = schema | {"title": name}
    return {"$ref": f"#/components/schemas/{name}"}


def add_docs(app: FastAPI) -> None:
    """Serves /openapi.json, /docs and its assets."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _add_keys_and_errors(generate())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    app.mount("/docs/assets", StaticFiles(directory=_ASSETS), name="docs-assets")

    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=f"{app.title} – interface",
        swagger_js_url="/docs/assets/swagger-ui-bundle.js",
        swagger_css_url="/docs/assets/swagger-ui.css",
        swagger_favicon_url="/docs/assets/favicon.png",
    )
    headers = {"content-security-policy": _content_security_policy(bytes(page.body).decode())}

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page.body, headers=headers)


def _content_security_policy(page: str) -> str:
    """Allows what the page consists of: its own files, the scripts within it, and the styles that its script sets."""
    scripts = (sha256(script.encode()).digest() for script in _SCRIPT.findall(page))
    hashes = " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in scripts)
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; frame-ancestors 'none'"
    )
