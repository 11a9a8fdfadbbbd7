"""Bad input at every endpoint: the documented error, nothing kept, and the next request works.

The cases are tests/vectors/bad_input (one file for each kind of body) and tests/e2e/bad_bodies.py. Each says what is
sent and which `status`, `code` and `param` must come back. `at` names the ways that a case of chat holds for; `stores`
names tables that it may add to.
"""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from tests.e2e.api_keys import new_key
from tests.e2e.bad_bodies import Bad, coded, malformed, typed
from tests.e2e.conftest import Gateways
from tests.e2e.server import OPERATOR_KEY, ROOT, Running
from tests.e2e.upstream import Upstream
from tests.openapi import native

LIMIT = 128 * 1024
TEXT = "Zebulon Quagmire is at home. Write to him."
CHAT: dict[str, Any] = {"model": "svc-demo", "messages": [{"role": "user", "content": TEXT}]}
SESSION = {"session_id": "vs_" + "0" * 32, "session_token": "x"}
SOUND: dict[str, tuple[str, dict[str, Any]]] = {
    "analyze": ("/v1/analyze", {"text": TEXT}),
    "explain": ("/v1/explain", {"text": TEXT}),
    "protect": ("/v1/protect", {"text": TEXT}),
    "reconstruct": ("/v1/reconstruct", {"text": TEXT, "session": SESSION}),
    "shard": ("/v1/shard", {"text": TEXT}),
    "playground": ("/v1/playground/run", {"text": TEXT}),
    "policies": ("/v1/policies", {"id": "quagmire-rules", "title": "House"}),
    "chat": ("/v1/chat/completions", CHAT),
}
MODELS = {"demo": "svc-demo", "upstream": "lab-1", "proxy": "some-model"}
KINDS = {401: "authentication_error", 403: "permission_error"}


def vectors(*names: str) -> list[dict[str, Any]]:
    folder = ROOT / "tests" / "vectors" / "bad_input"
    return [json.loads(line) for name in names for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def expanded(value: Any) -> Any:
    """Replaces `{"$repeat": [text, times]}` by a long text."""
    if isinstance(value, dict):
        if "$repeat" in value:
            text, times = value["$repeat"]
            return text * times
        return {key: expanded(member) for key, member in value.items()}
    return [expanded(member) for member in value] if isinstance(value, list) else value


def fields_of(endpoint: str) -> Iterator[Any]:
    own = ("chat", "policies", "reconstruct")
    files = {"explain": ["text"], **{name: [name] for name in own}}
    for vector in vectors(*files.get(endpoint, ["text", endpoint])):
        if "demo" not in vector.get("at", ["demo"]):
            continue
        yield pytest.param(endpoint, vector, id=f"{endpoint}-{vector['name']}")


@pytest.fixture(scope="module")
def server(gateways: Gateways, _plain: Upstream) -> Iterator[Running]:
    lab = f'[upstreams.lab]\nbase_url = "{_plain.url}/v1"\nmodels = ["lab-*"]\n'
    running = gateways(config=lab, body_limit_bytes=str(LIMIT), log_level="debug")
    yield running
    assert "Zebulon" not in running.output()


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    """One for all cases: what is wrong with one request must not reach the next one on its connection."""
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def proxied(server: Running, _tls: Upstream) -> Iterator[httpx.Client]:
    with server.proxied(_tls.url, authorization="Bearer key-of-the-provider") as client:
        yield client


class Kept:
    """How much the database holds."""

    def __init__(self, server: Running) -> None:
        self._path = server.data / "gateway.db"
        with self._database() as conn:
            (self._last,) = conn.execute("SELECT coalesce(max(sequence), 0) FROM receipts").fetchone()
        self._before = self._counts()

    def _database(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True))

    def _counts(self) -> dict[str, int]:
        """The rows of each table; of receipts, those since this look began."""
        with self._database() as conn:
            tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            # Refusals are counted by call and code, apart from the requests; the clock is stored as time passes.
            tables = [name for name in tables if name not in {"key_calls", "vault_clock"}]
            counts = {name: f"(SELECT count(*) FROM {name})" for name in tables}
            # A refusal leaves a receipt with the route `blocked`, and its outcome.
            others = 'body NOT LIKE \'%"route":"blocked"%\' AND body NOT LIKE \'%"outcome":"refused"%\''
            counts["receipts"] = f"(SELECT count(*) FROM receipts WHERE sequence > {self._last} AND {others})"
            found = conn.execute(f"SELECT {', '.join(counts.values())}").fetchone()
            return dict(zip(counts, found, strict=True))

    def grown(self) -> set[str]:
        """The tables that are not as they were, but for the receipts of refusals and their count."""
        after = self._counts()
        assert {"receipts", "vault_sessions", "vault_rows", "policies", "keys", "usage"} <= after.keys()
        changed = {name for name, count in after.items() if count != self._before.get(name)}
        return changed - {"receipts_tree", "receipts_facts", "usage"}


def check(answer: httpx.Response, status: int, code: str, param: str | None) -> None:
    """The one shape of every error, without a word of what was sent."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    body = answer.json()
    assert body.keys() == {"error", "request_id"}
    error = body["error"]
    assert error == error | {"code": code, "param": param, "type": KINDS.get(status, "invalid_request_error")}
    assert error.keys() == {"code", "message", "type", "param"}
    assert re.fullmatch(r"req_[0-9a-f]{32}", body["request_id"])
    assert answer.headers["x-svc-request-id"] == body["request_id"]
    assert len(error["message"]) > 10
    assert not re.search("zebulon|quagmire", answer.text + str(answer.headers), re.IGNORECASE)


@pytest.mark.parametrize(("endpoint", "vector"), [case for endpoint in SOUND for case in fields_of(endpoint)])
def test_fields(server: Running, client: httpx.Client, endpoint: str, vector: dict[str, Any]) -> None:
    kept = Kept(server)
    body = expanded(vector["body"])
    if body.get("model") == "$model":
        body["model"] = "svc-demo"
    check(client.post(SOUND[endpoint][0], json=body), vector["status"], vector["code"], vector["param"])
    assert kept.grown() - set(vector.get("stores", ())) == set()
    assert client.get("/v1/models").status_code == 200


def bodies_of(endpoint: str) -> dict[str, Bad]:
    sound = json.dumps(SOUND[endpoint][1]).encode()
    return malformed(sound) | coded(sound, LIMIT) | typed(sound)


@pytest.mark.parametrize("endpoint", SOUND)
@pytest.mark.parametrize("name", bodies_of("analyze"))
def test_bodies(server: Running, client: httpx.Client, endpoint: str, name: str) -> None:
    kept = Kept(server)
    bad = bodies_of(endpoint)[name]
    headers = {"content-type": "application/json"} | bad.headers
    answer = client.post(SOUND[endpoint][0], content=bad.content, headers=headers)
    check(answer, bad.status, bad.code, bad.param)
    assert kept.grown() == set()
    assert client.get("/v1/models").status_code == 200


@pytest.mark.parametrize("endpoint", SOUND)
def test_a_body_over_the_limit_that_does_not_say_how_long_it_is(
    server: Running, client: httpx.Client, endpoint: str
) -> None:
    kept = Kept(server)
    sound = json.dumps(SOUND[endpoint][1]).encode()
    headers = {"content-type": "application/json"}
    answer = client.post(SOUND[endpoint][0], content=iter([sound, b" " * LIMIT]), headers=headers)
    check(answer, 413, "body_too_large", None)
    assert kept.grown() == set()
    assert client.get("/v1/models").status_code == 200


@pytest.mark.parametrize("vector", vectors("paths"), ids=lambda vector: vector["name"])
def test_paths_and_queries(server: Running, client: httpx.Client, vector: dict[str, Any]) -> None:
    kept = Kept(server)
    check(client.get(vector["path"]), vector["status"], vector["code"], vector["param"])
    assert kept.grown() == set()
    assert client.get("/v1/models").status_code == 200


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "QUAGMIRE")
ALLOWED = {
    "/healthz": {"GET"},
    "/readyz": {"GET"},
    "/livez": {"GET"},
    "/metrics": {"GET"},
    "/v1/models": {"GET"},
    "/v1/models/svc-demo": {"GET"},
    "/v1/policies": {"GET", "POST"},
    "/v1/policies/default": {"GET", "DELETE"},
    "/v1/receipts": {"GET"},
    "/v1/receipts/req_00": {"GET"},
    "/v1/receipts/req_00/verify": {"GET"},
    "/v1/receipts/req_00/anchor-payload": {"GET"},
    "/v1/receipt-search": {"POST"},
    "/v1/requests/req_00/findings": {"GET"},
    "/v1/usage": {"GET"},
    "/v1/keys/audit": {"GET"},
    "/v1/sessions/extend": {"POST"},
    "/v1/sessions/revoke": {"POST"},
    "/v1/payments/x402": {"GET"},
    **{path: {"POST"} for endpoint, (path, _) in SOUND.items() if endpoint != "policies"},
}

OPEN = {"/healthz", "/readyz", "/livez"}


def test_the_paths_of_this_table_are_all_there_are(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    named = {re.sub(r"{\w+}", "x", path): set(methods) for path, methods in native(document).items()}
    wanted = {
        re.sub("default|req_00|svc-demo", "x", path): set(map(str.lower, allowed)) for path, allowed in ALLOWED.items()
    }
    assert named == wanted


@pytest.mark.parametrize("path", ["audio/speech", "images/edits", "uploads?limit=2"])
def test_a_call_with_files_names_the_policys_setting(client: httpx.Client, path: str) -> None:
    answer = client.post(f"/v1/{path}", json={"model": "svc-demo"})
    check(answer, 404, "not_found", None)
    assert "`attachments`" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["responses", "embeddings", "responses/resp_1/cancel", "threads?limit=2"])
def test_a_call_of_providers_that_is_not_there_says_so(client: httpx.Client, path: str) -> None:
    answer = client.post(f"/v1/{path}", json={"model": "svc-demo"})
    check(answer, 404, "not_found", None)
    error = answer.json()["error"]
    assert error["message"].startswith("This call is not supported yet, and nothing was sent.")
    assert "POST /v1/chat/completions" in error["message"]


@pytest.mark.parametrize(
    "path", ["/canary", "/chat/completions", "/v1/canary", "/v1/protect/", "/v1/canary%2f", "/v1/models/%"]
)
def test_a_path_that_is_not_there_says_what_is(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    check(answer, 404, "not_found", None)
    error = answer.json()["error"]
    assert error["message"].startswith("The gateway does not know this call, and nothing was sent.")
    assert "canary" not in error["message"]


@pytest.mark.parametrize("path", ALLOWED)
def test_methods(server: Running, client: httpx.Client, path: str) -> None:
    kept = Kept(server)
    allowed = ALLOWED[path] | ({"HEAD"} if "GET" in ALLOWED[path] else set())
    for method in METHODS:
        if method in allowed:
            continue
        answer = client.request(method, path)
        assert set(answer.headers["allow"].split(", ")) == allowed, method
        if method == "HEAD":
            assert (answer.status_code, answer.content) == (405, b"")
        else:
            check(answer, 405, "method_not_allowed", None)
        assert client.get("/v1/models").status_code == 200
    assert kept.grown() == set()


@pytest.mark.parametrize("path", [path for path, allowed in ALLOWED.items() if "GET" in allowed])
def test_head_is_answered_as_get_without_the_body(client: httpx.Client, path: str) -> None:
    """On one connection with the next request: bytes of a body would be taken for its answer."""
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
    assert client.head(path, headers={"authorization": ""}).status_code == (200 if path in OPEN else 401)


STRANGERS: dict[str, dict[str, str]] = {
    "nothing": {},
    "another-key": {"authorization": "Bearer svck_Quagmire"},
    "another-key-header": {"x-svc-key": "svck_Quagmire"},
    "empty": {"authorization": ""},
    "empty-bearer": {"authorization": "Bearer"},
    "empty-key-header": {"x-svc-key": ""},
    "basic": {"authorization": "Basic WmVidWxvbjpRdWFnbWlyZQ=="},
    "key-without-scheme": {"authorization": OPERATOR_KEY},
    "longer": {"x-svc-key": OPERATOR_KEY + "x"},
    "shorter": {"x-svc-key": OPERATOR_KEY[:-1]},
    "in-capitals": {"x-svc-key": OPERATOR_KEY.upper()},
    "very-long": {"x-svc-key": "x" * 8000},
    "not-ascii": {"x-svc-key": "Zébulon"},
    # The header of our own goes first: the other one belongs to the upstream.
    "wrong-beside-right": {"x-svc-key": "svck_Quagmire", "authorization": f"Bearer {OPERATOR_KEY}"},
}


@pytest.mark.parametrize("name", STRANGERS)
def test_strangers(server: Running, name: str) -> None:
    kept = Kept(server)
    with server.stranger() as client:
        client.headers.update([(key.encode(), value.encode("latin-1")) for key, value in STRANGERS[name].items()])
        for path, methods in {**ALLOWED, "/v1/quagmire": {"GET"}}.items():
            for method in methods | {"DELETE"}:
                if path in OPEN:
                    continue
                body = {"json": {"text": TEXT}} if method == "POST" else {}
                check(client.request(method, path, **body), 401, "unauthorized", None)  # type: ignore[arg-type]
        assert client.get("/healthz").status_code == 200
    assert kept.grown() == set()


def test_what_is_for_operators(server: Running) -> None:
    with server.client(new_key(server, "a client")) as client:
        kept = Kept(server)
        check(client.get("/v1/usage"), 403, "forbidden", None)
        check(client.post("/v1/receipt-search", json={"value": "Zebulon"}), 403, "forbidden", None)
        for endpoint in ("playground", "policies"):
            path, body = SOUND[endpoint]
            check(client.post(path, json=body), 403, "forbidden", None)
            check(client.post(path, content=b"Zebulon"), 403, "forbidden", None)
        assert kept.grown() == set()


type Ways = dict[str, tuple[httpx.Client, Upstream]]


@pytest.fixture
def ways(client: httpx.Client, proxied: httpx.Client, upstream: Upstream, tls_upstream: Upstream) -> Ways:
    """The two ways of a chat to an upstream: through the gateway listener and through the proxy."""
    return {"upstream": (client, upstream), "proxy": (proxied, tls_upstream)}


def fields_on_ways() -> Iterator[Any]:
    for vector in vectors("chat"):
        for way in ("upstream", "proxy"):
            if way in vector.get("at", [way]):
                yield pytest.param(way, vector, id=f"{way}-{vector['name']}")


@pytest.mark.parametrize(("way", "vector"), [*fields_on_ways()])
def test_bad_fields_of_a_chat_are_not_sent(server: Running, ways: Ways, way: str, vector: dict[str, Any]) -> None:
    client, upstream = ways[way]
    kept = Kept(server)
    body = expanded(vector["body"])
    if body.get("model") == "$model":
        body["model"] = MODELS[way]
    check(client.post("/v1/chat/completions", json=body), vector["status"], vector["code"], vector["param"])
    assert not upstream.recorded
    assert kept.grown() == set()
    _crosses(server, client, way, upstream)


@pytest.mark.parametrize("way", ["upstream", "proxy"])
@pytest.mark.parametrize("name", [*malformed(b'{"a":1}'), *coded(b'{"a":1}', LIMIT)])
def test_bad_bodies_of_a_chat_are_not_sent(server: Running, ways: Ways, way: str, name: str) -> None:
    client, upstream = ways[way]
    sound = json.dumps(CHAT | {"model": MODELS[way]}).encode()
    bad = (malformed(sound) | coded(sound, LIMIT))[name]
    kept = Kept(server)
    headers = {"content-type": "application/json"} | bad.headers
    check(client.post("/v1/chat/completions", content=bad.content, headers=headers), bad.status, bad.code, bad.param)
    assert not upstream.recorded
    assert kept.grown() == set()
    _crosses(server, client, way, upstream)


def _crosses(server: Running, client: httpx.Client, way: str, upstream: Upstream) -> None:
    answer = client.post("/v1/chat/completions", json=CHAT | {"model": MODELS[way]})
    assert answer.json()["choices"][0]["message"]["content"] == TEXT
    assert len(upstream.recorded) == 1
    # Its outcome is written after the answer, and is not to be taken for the next one's.
    deadline = time.monotonic() + 10
    query = "SELECT count(*) FROM receipts WHERE request_id = ? AND kind = 'outcome'"
    with closing(sqlite3.connect(server.data / "gateway.db")) as conn:
        while conn.execute(query, [answer.headers["x-svc-request-id"]]).fetchone() == (0,):
            assert time.monotonic() < deadline
            time.sleep(0.002)


def test_after_all_that_every_endpoint_works(client: httpx.Client) -> None:
    for endpoint, (path, body) in SOUND.items():
        answer = client.post(path, json=body)
        wanted = {"policies": 201, "reconstruct": 404}.get(endpoint, 200)
        assert answer.status_code == wanted, answer.text
    assert client.get("/v1/receipts", params={"limit": 500, "offset": 0}).status_code == 200


NUL = "Zebulon\x00 Quagmire,\x00 z.quagmire@acme.test\x00."


def test_nul_in_a_text_is_text(client: httpx.Client) -> None:
    """JSON may hold it, and what was sent comes back byte for byte."""
    done = client.post("/v1/protect", json={"text": NUL}).json()
    assert "z.quagmire" not in done["protected_text"]
    session = {name: done["session"][name] for name in SESSION}
    opened = client.post("/v1/reconstruct", json={"text": done["protected_text"], "session": session}).json()
    assert opened["text"] == NUL
