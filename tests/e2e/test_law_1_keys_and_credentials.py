"""Law 1: a gateway key is sent to no upstream in any spelling, and a provider's key is returned to no client."""

import http.client
import json
from base64 import b32encode, b64encode
from collections.abc import Callable, Iterator
from urllib.parse import quote

import httpx
import pytest
from httpx._types import HeaderTypes

from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Reply, Upstream

CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "hello"}]}
CARD = "4539578763621486"
OTHER = "Bearer other-key-of-the-provider"
UPSTREAM_KEY = "upstream-key-of-the-tests"
# The gateway never made this key; its form is enough.
CLIENT_KEY = "svck_" + "client-of-the-tests-" * 2


@pytest.fixture
def proxied(running: Running, tls_upstream: Upstream) -> Iterator[httpx.Client]:
    with running.proxied(tls_upstream.url) as client:
        yield client


def spellings(key: str) -> dict[str, str]:
    coded = b64encode(f"user:{key}".encode()).decode()
    return {
        "bearer": f"Bearer {key}",
        "bare": key,
        "quoted": f'Bearer "{key}"',
        "basic": f"Basic {coded}",
        "in a list": f"Bearer other, Bearer {key}",
        "percent-encoded": "Bearer " + "".join(f"%{ord(char):02X}" for char in key),
        "percent-encoded twice": "Bearer " + quote("".join(f"%{ord(char):02X}" for char in key)),
        "hexadecimal": key.encode().hex(),
        "base32": b32encode(f"me:{key}".encode()).decode(),
        "base32 in lower case": b32encode(key.encode()).decode().lower(),
        "capitals": key.upper(),
        "JSON": json.dumps({"key": key}).replace("_", "\\u005f"),
        "HTML": key.replace("_", "&#95;").replace("v", "&#x76;"),
        "behind a prefix": f"x-{key}",
    }


def chat(running: Running, headers: HeaderTypes) -> httpx.Response:
    with running.stranger() as client:
        return client.post("/v1/chat/completions", json=CHAT, headers=headers)


def absent(key: str, upstream: Upstream) -> None:
    body = upstream.seen.decode()
    assert key not in body
    assert key.rstrip("-") not in body
    assert b64encode(f"user:{key}".encode()).decode() not in body


@pytest.mark.parametrize("key", [OPERATOR_KEY, CLIENT_KEY], ids=["operator", "client"])
@pytest.mark.parametrize("spelling", spellings("x"))
@pytest.mark.parametrize("header", ["authorization", "x-goog-api-key", "proxy-authorization", "user-agent", "x-note"])
def test_no_gateway_key_leaves_through_the_proxy(
    proxied: httpx.Client, tls_upstream: Upstream, header: str, spelling: str, key: str
) -> None:
    headers = {header: spellings(key)[spelling]}
    for answer in (
        proxied.post("/v1/chat/completions", json=CHAT, headers=headers),
        proxied.get("/v1/models", headers=headers),
    ):
        assert answer.status_code == 401, answer.text
        assert key not in answer.text
    assert not tls_upstream.recorded


@pytest.mark.parametrize("place", ["/v1/models/{}", "/v1/models?key={}", "/openai/{}/chat/completions"])
def test_no_gateway_key_leaves_in_an_address(proxied: httpx.Client, tls_upstream: Upstream, place: str) -> None:
    method = "POST" if "chat" in place else "GET"
    answer = proxied.request(method, place.format(OPERATOR_KEY), json=CHAT if method == "POST" else None)
    assert answer.status_code in {401, 404}
    assert not tls_upstream.recorded


@pytest.mark.parametrize("spelling", spellings("x"))
@pytest.mark.parametrize("header", ["authorization", "user-agent", "x-request-id", "cookie", "x-api-key", "x-note"])
def test_no_gateway_key_leaves_through_the_gateway(
    running: Running, upstream: Upstream, header: str, spelling: str
) -> None:
    headers = {"x-svc-key": OPERATOR_KEY, header: spellings(OPERATOR_KEY)[spelling]}
    answer = chat(running, headers)
    assert answer.status_code == (400 if header in {"user-agent", "x-request-id"} else 200), answer.text
    absent(OPERATOR_KEY, upstream)
    if upstream.recorded:
        assert upstream.recorded[-1].header("authorization") == f"Bearer {UPSTREAM_KEY}"


@pytest.mark.parametrize("name", ["authorization", "x-svc-key", "x-api-key", "api-key", "x-goog-api-key"])
def test_a_credential_that_is_sent_twice_is_refused(
    running: Running, upstream: Upstream, proxied: httpx.Client, tls_upstream: Upstream, name: str
) -> None:
    twice = [(name, f"Bearer {OPERATOR_KEY}"), (name.title(), OTHER)]
    headers = [("x-svc-key", OPERATOR_KEY), *twice]
    answer = chat(running, headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == name
    with running.stranger() as client:
        assert client.get("/v1/models", headers=headers).status_code == 400
    answer = proxied.post("/v1/chat/completions", json=CHAT, headers=[(name, OTHER), (name, OTHER)])
    assert answer.status_code == 400
    assert not upstream.recorded
    assert not tls_upstream.recorded


def test_two_different_credentials_of_a_provider_are_refused(proxied: httpx.Client, tls_upstream: Upstream) -> None:
    """A client that sends both would give one provider the key of another."""
    both = {"authorization": OTHER, "x-api-key": "a-key-of-another-provider"}
    for headers in (both, {**both, "x-svc-key": OPERATOR_KEY}):
        assert proxied.post("/v1/chat/completions", json=CHAT, headers=headers).status_code == 400
        assert proxied.get("/v1/models", headers=headers).status_code == 400
    assert not tls_upstream.recorded


@pytest.mark.parametrize("name", ["authorization", "x-api-key", "api-key", "x-goog-api-key"])
def test_one_credential_is_sent_in_the_header_that_the_client_chose(
    proxied: httpx.Client, tls_upstream: Upstream, name: str
) -> None:
    """Also where a client repeats it in a second header, as some do for hosts that read either."""
    value = OTHER if name == "authorization" else OTHER.removeprefix("Bearer ")
    for headers in ({name: value}, {name: value, "authorization": OTHER}):
        assert proxied.post("/v1/chat/completions", json=CHAT, headers=headers).status_code == 200
        assert tls_upstream.recorded[-1].header(name) == value


def _plain(
    running: Running, upstream: Upstream, *fields: tuple[str, str], path: str = "/x"
) -> http.client.HTTPResponse:
    """Plain HTTP through the proxy to a host that is not intercepted."""
    connection = http.client.HTTPConnection("127.0.0.1", running.proxy_port, timeout=30)
    connection.putrequest("POST", f"http://127.0.0.1:{upstream.port}{path}", skip_host=True)
    for name, value in (("Host", f"127.0.0.1:{upstream.port}"), ("Content-Length", "0"), *fields):
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_a_stranger_gets_nothing_that_was_meant_for_the_proxy(running: Running, upstream: Upstream) -> None:
    upstream.answer = lambda _: Reply(b"{}")
    answer = _plain(
        running,
        upstream,
        ("X-SVC-Key", OPERATOR_KEY),
        ("Proxy-Authorization", "Basic " + b64encode(b"me:proxy-password").decode()),
        ("Proxy-Connection", "keep-alive"),
        ("Connection", "x-hop"),
        ("X-Hop", "for the next only"),
        ("Authorization", "Bearer theirs"),
    )
    assert answer.status == 200
    sent = upstream.recorded[-1]
    assert sent.header("authorization") == "Bearer theirs"
    for name in ("x-svc-key", "proxy-authorization", "proxy-connection", "x-hop"):
        assert sent.header(name) is None, name
    absent(OPERATOR_KEY, upstream)


@pytest.mark.parametrize("spelling", spellings("x"))
@pytest.mark.parametrize("header", ["Authorization", "Cookie", "X-Note"])
def test_a_gateway_key_goes_to_no_stranger(running: Running, upstream: Upstream, header: str, spelling: str) -> None:
    assert _plain(running, upstream, (header, spellings(OPERATOR_KEY)[spelling])).status == 401
    assert _plain(running, upstream, path=f"/?key={OPERATOR_KEY}").status == 401
    assert not upstream.recorded


def quoted(key: str) -> dict[str, str]:
    return {
        "plain": key,
        "JSON-escaped": "".join(f"\\u{ord(char):04X}" for char in key),
        "JSON in JSON": "".join(f"\\\\u{ord(char):04x}" for char in key),
        "percent-encoded": "".join(f"%{ord(char):02x}" for char in key),
        "HTML": "".join(f"&#{ord(char)};" for char in key),
        "hexadecimal": key.encode().hex(),
        "base64": b64encode(key.encode()).decode(),
        "base32": b32encode(key.encode()).decode(),
        "capitals": key.upper(),
        "base64 of a header": b64encode(f"Bearer {key}".encode()).decode(),
    }


@pytest.mark.parametrize("spelling", quoted(UPSTREAM_KEY))
@pytest.mark.parametrize("status", [200, 302, 401])
def test_a_quoted_providers_key_is_shown_to_no_client(
    running: Running, upstream: Upstream, proxied: httpx.Client, tls_upstream: Upstream, spelling: str, status: int
) -> None:
    key = "provider/key_of-the-tests"
    for secret, reached in ((UPSTREAM_KEY, upstream), (key, tls_upstream)):
        said = quoted(secret)[spelling]
        reply = Reply(f'{{"error": {{"message": "no: {said}"}}}}'.encode(), status)
        reply.headers |= {"x-your-key": said, "location": f"https://elsewhere.test/?key={said}"}
        reached.answer = lambda _, reply=reply: reply
    theirs = {"authorization": f"Bearer {key}"}
    calls: dict[str, list[Callable[[], httpx.Response]]] = {
        UPSTREAM_KEY: [lambda: chat(running, {"x-svc-key": OPERATOR_KEY})],
        key: [
            lambda: proxied.post("/v1/chat/completions", json=CHAT, headers=theirs),
            lambda: proxied.get("/v1/models", headers=theirs),
        ],
    }
    with operator(running) as web:
        web.post("/clear")
    for secret, sends in calls.items():
        hidden = quoted(secret)[spelling].strip("=")
        # Base64 of a longer text begins and ends with characters that depend on what is around the key.
        hidden = hidden[10:-4] if "header" in spelling else hidden[:-1]
        for send in sends:
            answer = send()
            head = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
            assert hidden not in answer.text + head
            assert secret not in answer.text + head
        with operator(running) as web:
            assert hidden.encode() not in everything(web)


HEADERS = {
    "cookie": f"session={CARD}",
    "x-card": CARD,
    "user-agent": f"tool {CARD}",
    "x-note": "anna.schmidt@acme.test",
    CARD: "1",
    "x-request-id": b64encode(f"card {CARD}".encode()).decode(),
    "openai-organization": "".join(f"%{ord(char):02x}" for char in CARD),
}


def test_headers_that_are_not_known_to_be_harmless_are_not_sent(proxied: httpx.Client, tls_upstream: Upstream) -> None:
    headers = HEADERS | {"accept-language": "de", "x-codex-turn-metadata": '{"cwd":"/srv/kestrel"}'}
    headers |= {"openai-beta": "assistants=v2", "x-stainless-lang": "python", "authorization": OTHER}
    assert proxied.post("/v1/chat/completions", json=CHAT, headers=headers).status_code == 200
    sent = {name for name, _ in tls_upstream.recorded[-1].headers}
    known = {"host", "accept", "content-type", "content-length", "accept-encoding", "openai-beta", "x-stainless-lang"}
    assert sent == known | {"authorization"}
    assert CARD.encode() not in tls_upstream.seen


@pytest.mark.parametrize("name", ["authorization", "x-goog-api-key", "api-key", "x-api-key"])
def test_private_text_in_a_credentials_place_is_refused(
    proxied: httpx.Client, tls_upstream: Upstream, name: str
) -> None:
    for value in (CARD, f"Bearer {CARD}", "anna.schmidt@acme.test", "Zebulon Quagmire"):
        answer = proxied.post("/v1/chat/completions", json=CHAT, headers={name: value})
        assert answer.status_code == 400
        assert value not in answer.text
    assert not tls_upstream.recorded


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"/openai/deployments/{CARD}/chat/completions"),
        ("POST", f"/openai/deployments/card_{CARD}/chat/completions?api-version=2024-10-21"),
        ("POST", f"/v1/chat/completions?x=card_{CARD}"),
        ("GET", f"/v1/models/{CARD}"),
        ("GET", f"/v1/models/card-{CARD}"),
        ("GET", f"/v1/models?x={b64encode(CARD.encode()).decode()}"),
    ],
)
def test_private_text_in_an_address_is_refused(
    proxied: httpx.Client, tls_upstream: Upstream, method: str, path: str
) -> None:
    answer = proxied.request(method, path, json=CHAT if method == "POST" else None)
    assert answer.status_code == 400
    assert not tls_upstream.recorded


@pytest.mark.parametrize("text", [f"[CARD_{CARD}]", f"card_{CARD}", f"[KEY_{'AKIA' + 'QWERTZUI23456789'}]"])
def test_what_looks_like_a_placeholder_is_searched(running: Running, upstream: Upstream, text: str) -> None:
    body = CHAT | {"messages": [{"role": "user", "content": text}]}
    with running.client() as client:
        assert client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"] == text
    assert CARD.encode() not in upstream.seen
    assert b"QWERTZUI" not in upstream.seen
