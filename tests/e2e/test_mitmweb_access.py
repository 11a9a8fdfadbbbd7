"""Access to mitmweb: it refuses clients without its token, pages under another name, and unbounded uploads."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import operator, token_of, wait_for
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
    with visitor(running) as client:
        yield client


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_address_answers_without_the_token(stranger: httpx.Client, method: str, address: str) -> None:
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer 0"}, {"Authorization": "Basic Ong="}):
        assert stranger.request(method, address, headers=headers).status_code in {403, 405}
    assert stranger.request(method, address, params={"token": ""}).status_code in {403, 405}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1beta/models/gemini-x:generateContent"])
def test_a_call_of_a_model_s_api_is_told_the_port(stranger: httpx.Client, path: str) -> None:
    refused = stranger.post(path, json={"model": "x"}, headers={"Host": "localhost"})
    assert (refused.status_code, refused.headers["content-type"]) == (404, "application/json")
    assert "gateway's own port (`gateway_port`" in refused.json()["error"]["message"]


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


def test_an_operator_with_a_name_is_in_the_receipt_of_an_edit(
    gateways: Gateways, upstream: Upstream, tmp_path: Path
) -> None:
    names = ("anna", "benn")
    for name in names:
        (tmp_path / name).write_text(name * 8)
    config = "".join(f'web_tokens.{name} = "file:{tmp_path / name}"\n' for name in names)
    running = gateways(*gateways.with_upstream, web=True, config=config, detection="patterns")
    assert not (running.data / "mitmweb.url").exists()
    body = {"model": "configured-upstream", "messages": [{"role": "user", "content": "Say hello."}]}
    answers: list[httpx.Response] = []
    with named(running, "anna") as anna, named(running, "benn") as ben, running.client() as client:
        assert anna.get("/flows", headers={"Cookie": ""}).status_code == 403
        assert ben.put("/options", json={"intercept": "~q"}).status_code == 200
        thread = threading.Thread(target=lambda: answers.append(client.post("/v1/chat/completions", json=body)))
        thread.start()
        flow = wait_for(lambda: next((flow for flow in ben.get("/flows").json() if flow["intercepted"]), None))
        content = ben.get(f"/flows/{flow['id']}/request/content.data").text.replace("hello", "good evening")
        assert anna.put(f"/flows/{flow['id']}", json={"request": {"content": content}}).status_code == 200
        assert ben.post(f"/flows/{flow['id']}/resume").status_code == 200
        thread.join(20)
        first = wait_for(lambda: outcome_of(client, answers[0].headers["x-svc-request-id"]))
        edit = client.get(f"/v1/receipts/{first['edit']}").json()
        assert (edit["operation"], edit["operator"]) == ("edit", "anna")
        assert ben.get("/flows").json()[0]["comment"].startswith(f"edited by anna: #{edit['sequence']} · ")
    assert f"edited by anna, receipt {edit['sequence']}" in running.output()
    check_signing_out(running)
    check_guessing(running)


def check_signing_out(running: Running) -> None:
    """Once Anna signs out, her cookie opens nothing, and the connection that sends her changes is closed."""
    with named(running, "anna") as anna, named(running, "benn") as ben:
        cookies = "; ".join(f"{name}={value}" for name, value in anna.cookies.items())
        assert 'data-operator="anna"' in anna.get("/").text
        with updates(running, "") as refused, updates(running, cookies) as stream:
            assert refused.readline().startswith(b"HTTP/1.1 403 ")
            assert stream.readline().startswith(b"HTTP/1.1 101 ")
            assert anna.post("/gateway/sign-out").status_code == 200
            assert stream.read(), "read until the end of the connection"
        for headers in ({}, {"Cookie": cookies}):
            assert anna.get("/flows", headers=headers).status_code == 403
        assert ben.get("/flows").status_code == 200


@contextmanager
def updates(running: Running, cookies: str) -> Iterator[BinaryIO]:
    """The WebSocket of mitmweb's page, as the bytes that it sends."""
    head = (
        f"GET /updates HTTP/1.1\r\nHost: localhost:{running.web_port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nCookie: {cookies}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", running.web_port), 20) as connection, connection.makefile("rb") as read:
        connection.sendall(head.encode())
        yield read


def check_guessing(running: Running) -> None:
    """After many wrong tokens from an address, the right one opens nothing; who has signed in may go on."""
    with named(running, "anna") as anna, visitor(running) as other:
        guesses = [{"Authorization": f"Bearer guess {number}"} for number in range(25)]
        tries = [other.get("/flows", headers=guess).status_code for guess in guesses]
        # The clients that signed in before have sent five.
        assert set(tries[:15]) == {403}
        assert tries[-1] == 429
        right = {"Authorization": f"Bearer {'anna' * 8}"}
        for refused in (other.get("/flows", headers=right), other.post("/", data={"token": "anna" * 8})):
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert anna.get("/flows").status_code == 200
    assert "guess" not in running.output()
    assert "anna" * 8 not in running.output()


@contextmanager
def visitor(running: Running) -> Iterator[httpx.Client]:
    """A client with a cookie against forgery."""
    place = f"http://127.0.0.1:{running.web_port}"
    with httpx.Client(base_url=place, trust_env=False, verify=PLAIN, timeout=30) as client:
        client.cookies.set("_mitmproxy_xsrf", "of-the-tests")
        client.headers["x-xsrftoken"] = "of-the-tests"
        yield client


@contextmanager
def named(running: Running, name: str) -> Iterator[httpx.Client]:
    """A client that signs in with a token of its own, in the form of the page."""
    with visitor(running) as client:
        wrong = client.post("/", data={"token": "x" * 32})
        assert (wrong.status_code, "Wrong token" in wrong.text) == (403, True)
        assert client.post("/", data={"token": name * 8}).status_code == 200
        yield client


def outcome_of(client: httpx.Client, request_id: str) -> dict[str, str] | None:
    outcome: dict[str, str] | None = client.get(f"/v1/receipts/{request_id}").json().get("outcome")
    return outcome
