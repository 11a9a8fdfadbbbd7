"""The documentation page at /docs, from assets of the package `fastapi-offline`: nothing comes from outside."""

from pathlib import Path

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

_ASSETS = Path(fastapi_offline.__file__).parent / "static"


def add_docs(app: FastAPI) -> None:
    """Serves /docs and its assets."""
    app.mount("/docs/assets", StaticFiles(directory=_ASSETS), name="docs-assets")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title=f"{app.title} – interface",
            swagger_js_url="/docs/assets/swagger-ui-bundle.js",
            swagger_css_url="/docs/assets/swagger-ui.css",
            swagger_favicon_url="/docs/assets/favicon.png",
        )
