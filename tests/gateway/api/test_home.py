"""`/` says what runs here: as a page to browsers, as JSON to others, and nothing that the client cannot use."""

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import httpx
import pytest
from fastapi import Request

from gateway.api.home import overview, prefers_html
from gateway.config.loading import load_settings

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        (BROWSER, True),
        ("TEXT/HTML", True),
        ("", False),
        ("*/*", False),
        ("application/json", False),
        ("application/json, text/html", False),
        ("text/html;q=0.9, application/json", True),
    ],
)
def test_browsers_get_a_page_and_others_json(accept: str, html: bool) -> None:
    assert prefers_html(accept) is html


async def test_the_page_has_no_script_and_loads_nothing(client: httpx.AsyncClient) -> None:
    page = await client.get("/", headers={"accept": BROWSER, "authorization": ""})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    (style,) = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in page.headers["content-security-policy"]
    assert not re.search(r"<script|src=|@import|url\(|style=", page.text)
    assert "OPENAI_BASE_URL=http://gateway/v1" in page.text
    for link in re.findall(r'href="(/[^"]*)"', page.text):
        assert (await client.get(link)).status_code == 200


async def test_others_get_addresses(client: httpx.AsyncClient) -> None:
    answer = await client.get("/")
    assert (answer.headers["content-type"], answer.headers["vary"]) == ("application/json", "accept")
    assert answer.json() == {
        "name": "privacy-gateway",
        "version": answer.json()["version"],
        "base_url": "http://gateway/v1",
        "proxy": "http://127.0.0.1:8080",
        "mitmweb": "http://127.0.0.1:8081",
        "playground": "http://gateway/playground/",
        "docs": "http://gateway/docs",
        "openapi": "http://gateway/openapi.json",
        "health": "http://gateway/readyz",
    }
    assert (await client.post("/")).status_code == 405


LOCAL, AWAY = "127.0.0.1", "192.0.2.7"


@pytest.mark.parametrize(
    ("given", "client", "host", "shown"),
    [
        ({}, LOCAL, "localhost:8000", ("http://localhost:8000/v1", "http://127.0.0.1:8080", "http://127.0.0.1:8081")),
        ({}, AWAY, "gw.example", ("http://gw.example/v1", None, None)),
        ({"proxy_host": "0.0.0.0", "accept_risks": ["open_proxy", "plain_http"]}, AWAY, "gw.example:8000",
         ("http://gw.example:8000/v1", "http://gw.example:8080", None)),
        ({"proxy_host": "0.0.0.0", "accept_risks": ["open_proxy", "plain_http"]}, AWAY, "[2001:db8::1]:8000",
         ("http://[2001:db8::1]:8000/v1", "http://[2001:db8::1]:8080", None)),
        ({"proxy": False, "web": False}, LOCAL, "localhost:8000", ("http://localhost:8000/v1", None, None)),
        ({"proxy_port": 0, "web_port": 0}, LOCAL, "localhost:8000", ("http://localhost:8000/v1", None, None)),
        ({}, LOCAL, '"><script>', ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8080", "http://127.0.0.1:8081")),
    ],
)  # fmt: skip
def test_addresses_are_those_that_the_client_can_reach(
    given: dict[str, Any], client: str, host: str, shown: tuple[str | None, ...]
) -> None:
    scope = {"type": "http", "scheme": "http", "path": "/", "query_string": b"", "server": None}
    request = Request(scope | {"headers": [(b"host", host.encode())], "client": (client, 5)})
    said = overview(load_settings(None, **given), request)
    assert (said["base_url"], said["proxy"], said["mitmweb"]) == shown
    assert overview(load_settings(None, playground=False, **given), request)["playground"] is None
