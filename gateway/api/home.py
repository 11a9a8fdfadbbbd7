"""Answers `/`: a short page for browsers, and the same as JSON for other clients. It needs no key and repeats none."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from gateway import __version__
from gateway.config.listener_addresses import ListenerName, is_loopback
from gateway.config.listener_urls import address_of, url_of
from gateway.config.settings import Settings
from gateway.http.strict_json import JSON, dump

_FOLDER = Path(__file__).parent
_HOST = re.compile(r"((?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?\Z")
_ANYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 # nosec B104
_HTML = "text/html"


def home() -> APIRouter:
    """Returns the route of `/`."""
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def start(request: Request) -> Response:
        members = overview(request.app.state.container.settings, request)
        if not prefers_html(request.headers.get("accept", "")):
            return Response(dump(members), media_type=JSON, headers={"vary": "accept"})
        template, policy = _page()
        headers = {"content-security-policy": policy, "vary": "accept"}
        return HTMLResponse(template.render(**members), headers=headers)

    return router


def overview(settings: Settings, request: Request) -> dict[str, Any]:
    """Returns what runs here. Listeners that the client cannot reach are None."""
    client = request.client.host if request.client else ""
    gateway = _own_address(settings, request)
    host = re.sub(r":\d+\Z", "", gateway.partition("://")[2])
    return {
        "name": "privacy-gateway",
        "version": __version__,
        "base_url": f"{gateway}/v1",
        "proxy": _other(settings, "proxy", settings.proxy_port, client, host) if settings.proxy else None,
        "mitmweb": _other(settings, "web", settings.web_port, client, host) if settings.web else None,
        "playground": f"{gateway}/playground/" if settings.playground else None,
        "docs": f"{gateway}/docs",
        "openapi": f"{gateway}/openapi.json",
        "health": f"{gateway}/readyz",
    }


def prefers_html(accept: str) -> bool:
    """Whether a client lists HTML before JSON, as browsers do. Most others accept anything."""
    listed = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    return _HTML in listed and (JSON not in listed or listed.index(_HTML) < listed.index(JSON))


def _own_address(settings: Settings, request: Request) -> str:
    """Returns the address that the client has used, or that of the settings if it is not a name and a port."""
    named = _HOST.match(request.headers.get("host", ""))
    scheme = "https" if settings.speaks_tls("gateway") else request.url.scheme
    return f"{scheme}://{named[0]}" if named else url_of(settings, "gateway", settings.gateway_port)


def _other(settings: Settings, listener: ListenerName, port: int, client: str, host: str) -> str | None:
    """Returns the address of another listener, or None if the client cannot reach it or its port is chosen at start."""
    bound = address_of(settings, listener)
    if not port or (is_loopback(bound) and not is_loopback(client)):
        return None
    return url_of(settings, listener, port, host=host.strip("[]") if bound in _ANYWHERE else None)


@cache
def _page() -> tuple[Template, str]:
    """Returns the page, and the policy that allows its style alone."""
    style = (_FOLDER / "home.css").read_text(encoding="utf-8")
    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined)
    environment.globals["style"] = style
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; frame-ancestors 'none'"
    return environment.get_template("home.html"), policy
