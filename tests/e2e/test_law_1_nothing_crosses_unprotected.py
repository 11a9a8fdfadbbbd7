"""Law 1: every path to an upstream fails closed. None of these requests may leave a trace at either upstream."""

import gzip
import http.client
import json
import socket
import zlib
from collections.abc import Iterator
from typing import Any

import brotli
import httpx
import pytest
import zstandard

from tests.e2e.server import OPERATOR_KEY, PLAIN, Running
from tests.e2e.upstream import Reply, Upstream

CANARY = "canary.law-one@acme.test"
CHAT: dict[str, Any] = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}
KEY = {"authorization": f"Bearer {OPERATOR_KEY}", "content-type": "application/json"}


@pytest.fixture(params=["gateway", "proxy"])
def entrance(
    request: pytest.FixtureRequest, running: Running, upstream: Upstream, tls_upstream: Upstream
) -> Iterator[tuple[httpx.Client, Upstream]]:
    """A client at each listener, with the upstream it leads to."""
    if request.param == "gateway":
        with httpx.Client(base_url=running.url, headers=KEY, trust_env=False, verify=PLAIN, timeout=30) as client:
            yield client, upstream
    else:
        context = running.trust
        headers = KEY | {"authorization": "Bearer key-of-the-provider"}
        with httpx.Client(
            base_url=tls_upstream.url, proxy=running.proxy, verify=context, headers=headers, trust_env=False, timeout=30
        ) as client:
            yield client, tls_upstream


def refused(answer: httpx.Response, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text
    error = answer.json()
    assert error["error"]["code"] == code
    assert set(error) == {"error", "request_id"}
    assert set(error["error"]) == {"code", "message", "type", "param"}
    assert "canary" not in answer.text


def said(messages: list[object]) -> bytes:
    return json.dumps({**CHAT, "messages": messages}).encode()


BODIES = {
    "broken": (b'{"model": "configured-upstream", "messages": [{"content": "canary', 400, "invalid_json"),
    "no JSON": (CANARY.encode(), 400, "invalid_json"),
    "empty": (b"", 400, "invalid_json"),
    "a list": (json.dumps([CHAT]).encode(), 400, "invalid_json"),
    "broken UTF-8": (json.dumps(CHAT).encode().replace(b"canary", b"canary\xff"), 400, "invalid_json"),
    "lone surrogate": (json.dumps(CHAT).replace("canary", "canary\\ud800").encode(), 400, "invalid_json"),
    "duplicate keys": (b'{"model": "configured-upstream", "messages": [], "messages": []}', 400, "invalid_json"),
    "deep": (b'{"model":"configured-upstream","x":' + b"[" * 500 + b"]" * 500 + b"}", 400, "invalid_json"),
    "huge number": (json.dumps({**CHAT, "seed": 10**40}).encode(), 400, "invalid_json"),
    "no messages": (said([]), 400, "invalid_request"),
    "unknown role": (said([{"role": CANARY, "content": "x"}]), 400, "invalid_request"),
    "content is a number": (said([{"role": "user", "content": 7}]), 400, "invalid_request"),
    "image": (
        said([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}]),
        415,
        "attachment_refused",
    ),
    "unknown part": (
        said([{"role": "user", "content": [{"type": "hologram", "data": CANARY}]}]),
        415,
        "attachment_refused",
    ),
    "unknown policy": (json.dumps({**CHAT, "svc_policy": "no-such-policy"}).encode(), 404, "policy_not_found"),
    "bad mode": (json.dumps({**CHAT, "svc_privacy_mode": CANARY}).encode(), 422, "validation_error"),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_cannot_be_protected(entrance: tuple[httpx.Client, Upstream], name: str) -> None:
    client, upstream = entrance
    body, status, code = BODIES[name]
    refused(client.post("/v1/chat/completions", content=body), status, code)
    assert not upstream.recorded


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate (raw)": _raw_deflate,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", CODINGS)
def test_a_compressed_body_is_protected(entrance: tuple[httpx.Client, Upstream], name: str) -> None:
    client, upstream = entrance
    body = CODINGS[name](json.dumps(CHAT).encode())
    headers = {"content-encoding": name.split(maxsplit=1)[0]}
    answer = client.post("/v1/chat/completions", content=body, headers=headers)
    assert answer.json()["choices"][0]["message"]["content"] == f"mail {CANARY}"
    assert b"canary" not in upstream.seen
    assert upstream.recorded[-1].header("content-encoding") is None


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_defused(entrance: tuple[httpx.Client, Upstream], name: str) -> None:
    client, upstream = entrance
    bomb = CODINGS[name](json.dumps(CHAT).encode() + b" " * (64 << 20))
    assert len(bomb) < 1 << 20
    refused(
        client.post("/v1/chat/completions", content=bomb, headers={"content-encoding": name}), 413, "body_too_large"
    )
    assert not upstream.recorded


@pytest.mark.parametrize(
    ("coding", "status", "code"),
    [
        ("lzw", 415, "unsupported_encoding"),
        ("gzip", 400, "invalid_encoding"),
        ("gzip, gzip", 415, "unsupported_encoding"),
    ],
)
def test_a_coding_that_cannot_be_undone(
    entrance: tuple[httpx.Client, Upstream], coding: str, status: int, code: str
) -> None:
    client, upstream = entrance
    answer = client.post("/v1/chat/completions", content=json.dumps(CHAT), headers={"content-encoding": coding})
    refused(answer, status, code)
    assert not upstream.recorded


def test_a_body_over_the_limit(entrance: tuple[httpx.Client, Upstream]) -> None:
    client, upstream = entrance
    big = json.dumps({**CHAT, "pad": "x" * (11 << 20)}).encode()
    refused(client.post("/v1/chat/completions", content=big), 413, "body_too_large")

    def chunks() -> Iterator[bytes]:
        yield big[: 6 << 20]
        yield big[6 << 20 :]

    refused(client.post("/v1/chat/completions", content=chunks()), 413, "body_too_large")
    assert not upstream.recorded


def test_an_unknown_field_is_scanned(entrance: tuple[httpx.Client, Upstream]) -> None:
    client, upstream = entrance
    body = {
        **CHAT,
        "user": CANARY,
        "metadata": {CANARY: "4111 1111 1111 1111", "card": 4111111111111111},
        "brand_new": [{"deep": [CANARY]}],
        "stop": [CANARY],
    }
    body["messages"] = [
        {"role": "user", "name": CANARY, "content": [{"type": "text", "text": CANARY, "extra": CANARY}]}
    ]
    answer = client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"] == CANARY
    assert b"canary" not in upstream.seen
    assert b"4111" not in upstream.seen


REVEALED = {
    "Zebra81cat": "my database password: Zebra81cat",
    "471108": "My PIN is 471108.",
    "12345678": "My account number is 12345678.",
    "Wilhelmina Oxenfoord": "My name is Wilhelmina Oxenfoord.",
}


@pytest.mark.parametrize("value", REVEALED)
def test_a_value_that_a_later_message_reveals(entrance: tuple[httpx.Client, Upstream], value: str) -> None:
    client, upstream = entrance
    call = {"id": "c", "type": "function", "function": {"name": "grep", "arguments": json.dumps({"for": value})}}
    messages = [
        {"role": "system", "content": f"You look for {value.lower()}."},
        {"role": "user", "content": f"grep {value} in the logs"},
        {"role": "assistant", "content": f"Found {value} twice", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": f"1: {value}\n2: {value}"},
        {"role": "user", "content": REVEALED[value]},
    ]
    answer = client.post("/v1/chat/completions", json={**CHAT, "messages": messages})
    assert answer.status_code == 200, answer.text
    assert value.lower().encode() not in upstream.recorded[-1].body.lower()


def test_private_text_in_headers_and_query_stays(entrance: tuple[httpx.Client, Upstream]) -> None:
    client, upstream = entrance
    headers = {"x-user": CANARY, "referer": f"https://intern/{CANARY}", "user-agent": f"tool ({CANARY})"}
    answer = client.post("/v1/chat/completions", json=CHAT, headers=headers)
    assert answer.status_code == 200
    for model in (CHAT["model"], "svc-demo"):
        refused = client.post(f"/v1/chat/completions?who={CANARY}", json={**CHAT, "model": model})
        assert refused.status_code == 400
        assert "query of the request holds private text" in refused.json()["error"]["message"]
        assert "canary" not in refused.text
    assert client.post("/v1/chat/completions?api-version=2024-10-21", json=CHAT).status_code == 200
    assert b"canary" not in upstream.seen


def test_an_offer_of_http2_is_ignored(entrance: tuple[httpx.Client, Upstream]) -> None:
    """Clients in Java make it with every request to an http URL."""
    client, upstream = entrance
    headers = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAEAAEAAAAIAAAAA"}
    answer = client.post("/v1/chat/completions", json=CHAT, headers=headers)
    assert (answer.status_code, answer.http_version) == (200, "HTTP/1.1")
    assert answer.json()["choices"][0]["message"]["content"] == CHAT["messages"][-1]["content"]
    assert CANARY.encode() not in upstream.seen
    assert not {name for name, _ in upstream.recorded[0].headers} & {"upgrade", "http2-settings"}


def test_a_websocket_upgrade(entrance: tuple[httpx.Client, Upstream]) -> None:
    client, upstream = entrance
    headers = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    refused(client.get("/v1/realtime", headers=headers), 426, "upgrade_refused")
    assert not upstream.recorded


def test_bytes_that_are_not_http(running: Running, upstream: Upstream) -> None:
    for port in (running.port, running.proxy_port):
        with socket.create_connection(("127.0.0.1", port), 5) as raw:
            raw.sendall(f"SSH-2.0-{CANARY}\r\n\r\n".encode())
            raw.settimeout(5)
            assert b"canary" not in raw.recv(65536)
    assert "canary" not in running.output()


ARGUMENTS = (
    CANARY,
    f"My name is Anna, {CANARY}, 4111 1111 1111 1111",
    f"{{'a': '{CANARY}'}}",
    f"a: {CANARY}\ncard: 4111 1111 1111 1111",
    f"send({CANARY}, card=4111111111111111)",
    f'{{"card": 4111111111111111, "mail": {CANARY}}}',
    f'{{"a": "{CANARY}',
)


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_tool_arguments_that_are_no_json(entrance: tuple[httpx.Client, Upstream], arguments: str) -> None:
    client, upstream = entrance
    function = {"name": "f", "arguments": arguments}
    call = {"id": "c", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": None, "function_call": function},
        {"role": "user", "content": "on"},
    ]
    assert client.post("/v1/chat/completions", json={**CHAT, "messages": messages}).status_code == 200
    assert b"canary" not in upstream.seen
    assert b"4111" not in upstream.seen


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_passed_on(entrance: tuple[httpx.Client, Upstream], status: int) -> None:
    """A client that follows it would send its plain text there by itself."""
    client, upstream = entrance
    headers = {"location": f"{upstream.url}/elsewhere", "content-type": "text/plain"}
    for body in (b"", b"moved"):
        upstream.answer = lambda _, body=body: Reply(body, status, headers)
        answer = client.post("/v1/chat/completions", json=CHAT, follow_redirects=True)
        refused(answer, 502, "upstream_invalid")
        assert "location" not in answer.headers
    assert b"canary" not in upstream.seen


def test_the_gateway_itself_redirects_nowhere(running: Running) -> None:
    with running.client() as client:
        for path in ("/v1/chat/completions/", "/v1/chat%2fcompletions", "/v1/%63hat/completions", "/v1/protect/"):
            answer = client.post(path, json=CHAT)
            assert answer.status_code == 404, path
            assert "location" not in answer.headers


def test_plain_http_to_an_intercepted_host_by_its_host_header(running: Running, tls_upstream: Upstream) -> None:
    with httpx.Client(proxy=running.proxy, trust_env=False, verify=PLAIN) as client:
        headers = {"host": f"localhost:{tls_upstream.port}"}
        client.post(f"http://127.0.0.1:{tls_upstream.port}/v1/chat/completions", json=CHAT, headers=headers)
    assert b"canary" not in tls_upstream.seen


def test_tls_to_an_address_by_the_name_in_the_handshake(running: Running, tls_upstream: Upstream) -> None:
    """The modes that see addresses only (socks5, transparent) connect like this: the ClientHello contains the name."""
    tunnel = http.client.HTTPConnection("127.0.0.1", running.proxy_port, timeout=30)
    tunnel.set_tunnel("127.0.0.1", tls_upstream.port)
    tunnel.connect()
    assert tunnel.sock is not None
    context = running.trust
    tunnel.sock = context.wrap_socket(tunnel.sock, server_hostname="localhost")
    tunnel.request("POST", "/v1/chat/completions", json.dumps(CHAT), {"content-type": "application/json"})
    answer = tunnel.getresponse()
    assert answer.status == 200
    assert CANARY in answer.read().decode()
    tunnel.close()
    assert tls_upstream.recorded
    assert b"canary" not in tls_upstream.seen


@pytest.mark.parametrize("mail", [CANARY, CANARY.replace("@", "%40"), CANARY.replace("@", "%2540")])
def test_a_query_with_private_text(running: Running, tls_upstream: Upstream, mail: str) -> None:
    with running.proxied() as client:
        answer = client.post(f"{tls_upstream.url}/v1/chat/completions?user={mail}", json=CHAT)
    assert answer.status_code == 400
    assert not tls_upstream.recorded


OURS = ({"authorization": f"Bearer {OPERATOR_KEY}"}, {"x-api-key": OPERATOR_KEY}, {"cookie": f"a=b; k={OPERATOR_KEY}"})


@pytest.mark.parametrize("headers", OURS, ids=lambda headers: next(iter(headers)))
@pytest.mark.parametrize(
    "call", [("POST", "/v1/chat/completions", CHAT), ("GET", "/v1/models", None)], ids=["chat", "models"]
)
def test_our_own_keys_go_to_no_provider(
    running: Running, tls_upstream: Upstream, call: tuple[str, str, object], headers: dict[str, str]
) -> None:
    """A client that moved from the base URL to the proxy may still send the gateway's key instead of the provider's."""
    method, path, body = call
    context = running.trust
    with httpx.Client(proxy=running.proxy, verify=context, headers=headers, trust_env=False) as client:
        answer = client.request(method, f"{tls_upstream.url}{path}", json=body)
    refused(answer, 401, "unauthorized")
    assert OPERATOR_KEY not in answer.text
    assert not tls_upstream.recorded


def test_a_key_of_ours_beside_the_providers_has_to_be_valid(running: Running, tls_upstream: Upstream) -> None:
    context = running.trust
    provider = {"authorization": "Bearer key-of-the-provider"}
    with httpx.Client(
        base_url=tls_upstream.url, proxy=running.proxy, verify=context, headers=provider, trust_env=False, timeout=30
    ) as client:
        refused(client.post("/v1/chat/completions", json=CHAT, headers={"x-svc-key": "svck_none"}), 401, "unauthorized")
        assert not tls_upstream.recorded
        answer = client.post("/v1/chat/completions", json=CHAT, headers={"x-svc-key": OPERATOR_KEY})
    assert answer.status_code == 200
    assert OPERATOR_KEY.encode() not in tls_upstream.seen
    assert tls_upstream.recorded[-1].header("authorization") == "Bearer key-of-the-provider"


def test_our_own_keys_are_not_sent(running: Running, upstream: Upstream) -> None:
    headers = KEY | {"x-svc-key": OPERATOR_KEY, "api-key": OPERATOR_KEY, "cookie": f"k={OPERATOR_KEY}"}
    answer = httpx.post(f"{running.url}/v1/chat/completions", json=CHAT, headers=headers, trust_env=False, verify=PLAIN)
    assert answer.status_code == 200
    assert OPERATOR_KEY.encode() not in upstream.seen


def test_a_key_that_the_upstream_quotes_is_not_passed_on(running: Running, upstream: Upstream) -> None:
    upstream.answer = lambda _: Reply(b'{"error": {"message": "no: upstream-key-of-the-tests"}}', 401)
    with running.client() as client:
        assert "upstream-key-of-the-tests" not in client.post("/v1/chat/completions", json=CHAT).text
