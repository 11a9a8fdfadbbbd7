"""Access to mitmweb: it refuses clients without its token, pages under another name, and unbounded uploads."""

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.mitmweb import operator, token_of
from tests.e2e.server import PLAIN, Running
from tests.e2e.upstream import Upstream

# Every address of mitmweb, with made-up parts in place of its parameters.
ADDRESSES = [
    "/", "/filter-help", "/updates", "/commands", "/commands/view.clear", "/events", "/flows", "/flows/dump",
    "/flows/resume", "/flows/kill", "/flows/0a", "/flows/0a/resume", "/flows/0a/kill", "/flows/0a/duplicate",
    "/flows/0a/replay", "/flows/0a/revert", "/flows/0a/request/content.data", "/flows/0a/request/content/raw",
    "/clear", "/options", "/options/save", "/state", "/processes", "/executable-icon",
]  # fmt: skip
BODY_LIMIT = 10 * 1024 * 1024


@pytest.fixture
def stranger(running: Running) -> Iterator[httpx.Client]:
    """A client on this machine that has a cookie against forgery but no token."""
    place = f"http://127.0.0.1:{running.web_port}"
    with httpx.Client(base_url=place, trust_env=False, verify=PLAIN, timeout=30) as client:
        client.cookies.set("_mitmproxy_xsrf", "of-the-tests")
        client.headers["x-xsrftoken"] = "of-the-tests"
        yield client


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_address_answers_without_the_token(stranger: httpx.Client, method: str, address: str) -> None:
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer 0"}, {"Authorization": "Basic Ong="}):
        assert stranger.request(method, address, headers=headers).status_code in {403, 405}
    assert stranger.request(method, address, params={"token": ""}).status_code in {403, 405}


def test_the_page_that_asks_for_the_token_is_whole(stranger: httpx.Client) -> None:
    page = stranger.get("/")
    links = re.findall(r'(?:href|src)="\.?(/[^"]*)"', page.text)
    assert page.status_code == 403
    assert [stranger.get(link).status_code for link in links] == [200]


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1", "0"])
def test_another_name_is_refused_with_the_token(running: Running, host: str) -> None:
    with operator(running) as web:
        for name in (host, f"{host}:{running.web_port}"):
            for path in ("/", "/flows", "/static/app.css", f"/flows?token={token_of(running)}"):
                refused = web.get(path, headers={"Host": name})
                assert (refused.status_code, "web_names" in refused.text) == (403, True)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_loopback_names_are_mitmweb_s_own(running: Running, host: str) -> None:
    with operator(running) as web:
        assert web.get("/flows", headers={"Host": f"{host}:{running.web_port}"}).status_code == 200


def is_cut_off(web: httpx.Client, method: str, path: str, content: bytes) -> bool:
    """Tells whether mitmweb refuses to read a body: it answers at the head, and closes."""
    try:
        return web.request(method, path, content=content).status_code == 400
    except httpx.TransportError:
        return True


def test_a_stranger_uploads_no_more_than_a_login(stranger: httpx.Client) -> None:
    assert stranger.post("/flows/dump", content=b" " * 64 * 1024).status_code == 403
    assert is_cut_off(stranger, "POST", "/flows/dump", b" " * (64 * 1024 + 1))


def test_an_operator_uploads_no_more_than_an_edit(running: Running) -> None:
    with operator(running) as web:
        assert web.put("/flows/0a", content=b" " * BODY_LIMIT).status_code == 404
        assert is_cut_off(web, "PUT", "/flows/0a", b" " * (BODY_LIMIT + 1))


@pytest.mark.parametrize("where", ["intercept", "view_filter"])
def test_a_filter_cannot_stop_the_gateway(running: Running, upstream: Upstream, where: str) -> None:
    body = {"model": "configured-upstream", "messages": [{"role": "user", "content": "a" * 5000 + "!"}]}
    with operator(running) as web, running.client() as client:
        try:
            assert web.put("/options", json={where: '~bq "(a+)+$"'}).status_code == 200
            # Python's `re` would search this text for longer than anyone waits.
            assert client.post("/v1/chat/completions", json=body).status_code == 200
            assert web.put("/options", json={where: '~bq "(a)\\\\1"'}).status_code == 400
        finally:
            web.put("/options", json={where: None})
