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

from gateway.api.schemas.errors import ErrorReply

_ASSETS = Path(fastapi_offline.__file__).parent / "static"
_SCRIPT = re.compile(r"<script>([^<]*)</script>")


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
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                media["schema"] = _named_schema(media["schema"], operation["operationId"], components["schemas"])
            operation["security"] = [{"bearer": []}, {"key": []}] if path.startswith("/v1/") else []
    return document


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
