"""No page of another site gets anything from the gateway, and no browser keeps, guesses at or frames an answer."""

import re
from base64 import b64encode
from hashlib import sha256

import httpx
import pytest

from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, echo

ORIGIN = {"Origin": "https://evil.example"}
KEY = {"Authorization": f"Bearer {OPERATOR_KEY}"}
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "Hello"}]}
CALLS: dict[str, tuple[str, str, dict[str, str], int]] = {
    "health": ("GET", "/healthz", {}, 200),
    "start": ("GET", "/", {}, 200),
    "start in a browser": ("GET", "/", {"Accept": "text/html"}, 200),
    "docs": ("GET", "/docs", {}, 200),
    "assets": ("GET", "/docs/assets/swagger-ui.css", {}, 200),
    "document": ("GET", "/openapi.json", {}, 200),
    "native": ("GET", "/v1/policies", KEY, 200),
    "no key": ("GET", "/v1/policies", {}, 401),
    "unknown path": ("GET", "/nowhere", {}, 404),
    "malformed": ("POST", "/v1/protect", KEY | {"Content-Type": "application/json"}, 400),
    "forwarded": ("POST", "/v1/chat/completions", KEY, 200),
}


# Headers by which an upstream behind a content-delivery network describes its own address.
OF_THE_UPSTREAM = {
    "alt-svc": 'h3=":443"; ma=86400',
    "nel": '{"report_to": "cf-nel", "max_age": 604800}',
    "report-to": '{"group": "cf-nel", "endpoints": [{"url": "https://reports.test"}]}',
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
}


@pytest.fixture(autouse=True)
def open_to_all(upstream: Upstream) -> None:
    """The upstream permits everything to all origins."""

    def answer(request: Recorded) -> Reply:
        reply = echo(request)
        permits = {"access-control-allow-origin": "*", "access-control-expose-headers": "*"}
        reply.headers |= permits | OF_THE_UPSTREAM | {"cache-control": "public, max-age=86400"}
        return reply

    upstream.answer = answer


def assert_closed(answer: httpx.Response) -> None:
    assert [name for name in answer.headers if name.startswith("access-control-")] == []
    assert not OF_THE_UPSTREAM.keys() & answer.headers.keys()
    assert answer.headers.get_list("cache-control") == ["no-store"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"\d", answer.headers.get("server", ""))


@pytest.mark.parametrize("call", CALLS)
def test_every_answer_is_closed(running: Running, call: str) -> None:
    method, path, headers, status = CALLS[call]
    with running.stranger() as client:
        body = CHAT if call == "forwarded" else None
        answer = client.request(method, path, headers=headers | ORIGIN, json=body)
        assert answer.status_code == status
        assert_closed(answer)


def test_the_proxy_does_not_say_how_to_go_round_it(running: Running, tls_upstream: Upstream) -> None:
    def answer(request: Recorded) -> Reply:
        reply = echo(request)
        reply.headers |= OF_THE_UPSTREAM
        return reply

    tls_upstream.answer = answer
    with running.proxied() as client:
        headers = client.post(f"{tls_upstream.url}/v1/chat/completions", json=CHAT).headers
    assert OF_THE_UPSTREAM.keys() - headers.keys() == {"alt-svc"}


@pytest.mark.parametrize("path", ["/healthz", "/v1/chat/completions", "/v1/protect", "/v1/policies", "/nowhere"])
def test_preflights_are_refused(running: Running, upstream: Upstream, path: str) -> None:
    asked = ORIGIN | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    with running.stranger() as client:
        for headers in (asked, asked | KEY):
            answer = client.options(path, headers=headers)
            assert answer.status_code in {401, 404, 405}
            assert_closed(answer)
    assert upstream.recorded == []


def test_what_mitmproxy_refuses_is_closed_too(running: Running) -> None:
    with running.stranger() as client:
        answer = client.get("/healthz", headers={"x-long": "x" * 70_000})
        assert answer.status_code == 431
        assert_closed(answer)


def test_the_documentation_page_runs_its_own_scripts_only(running: Running) -> None:
    with running.stranger() as client:
        page = client.get("/docs")
    assert "https://" not in page.text, "it loads nothing from elsewhere"
    scripts = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    assert scripts
    for script in scripts:
        digest = b64encode(sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page.headers["content-security-policy"]
    assert "script-src 'self' 'sha256-" in page.headers["content-security-policy"]
