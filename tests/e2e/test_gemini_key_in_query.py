"""Gemini's own REST form has the key in the query: the upstream gets it as a header, and no one else gets to see it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import trustme

from tests.e2e.conftest import Gateways
from tests.e2e.entrances import har
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, PLAIN, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, every_host_on_loopback

GOOGLE = "generativelanguage.googleapis.com"
VERTEX = "europe-west4-aiplatform.googleapis.com"
OTHER = "api.mistral.ai"
# Put together, so that no scanner of this repository takes it for a live one.
KEY = "AIza" + "SyCanary0f7heTests" * 2
KEY = KEY[:39]
MAIL = "anna.schmidt@acme.test"
ASKED = {"contents": [{"role": "user", "parts": [{"text": f"Write to {MAIL}"}]}]}
EMBEDDED = {"model": "models/gemini-x", "content": {"parts": [{"text": MAIL}]}}
MODEL = "/v1beta/models/gemini-x"
CALLS: dict[str, Any] = {
    f"{MODEL}:generateContent?key={{}}": ASKED,
    f"{MODEL}:streamGenerateContent?alt=sse&key={{}}": ASKED,
    f"{MODEL}:countTokens?key={{}}&%24fields=a%2Cb": ASKED,
    f"{MODEL}:embedContent?k%65y={{}}": EMBEDDED,
    f"{MODEL}:batchEmbedContents?key={{}}": {"requests": [EMBEDDED]},
    "/v1beta/cachedContents?key={}": {"model": "models/gemini-x", **ASKED},
    "/v1beta/models?pageSize=2&key={}": None,
    "/v1beta/models/gemini-x?key={}": None,
}


def provider(request: Recorded) -> Reply:
    """Quotes the key in head and body, as some do when they reject it, and answers with the words it was sent."""
    key = request.header("x-goog-api-key") or ""
    said = json.dumps(request.json["contents"][-1]["parts"]) if "contents" in request.body.decode() else "[]"
    answer = {"candidates": [{"content": {"parts": json.loads(said), "role": "model"}, "index": 0}], "note": key}
    body = json.dumps(answer)
    stream = "alt=sse" in request.query
    kind = "text/event-stream" if stream else "application/json"
    content = f"data: {body}\r\n\r\n" if stream else body
    return Reply(content.encode(), headers={"content-type": kind, "x-your-key": quote(key)})


@pytest.fixture(scope="module")
def google(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(authority, GOOGLE, VERTEX, OTHER).running() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def served(gateways: Gateways, google: Upstream, _plain: Upstream) -> Running:
    settings = f'[upstreams.google]\nwire = "gemini"\nbase_url = "{_plain.url}"\nmodels = ["gemini-*"]\n'
    hosts = [word for host in (GOOGLE, VERTEX, OTHER) for word in ("--intercept", f"{host}:{google.port}")]
    settings = f'streaming = true\nlog_level = "debug"\n{settings}'
    return gateways(*hosts, web=True, config=settings, prepare=every_host_on_loopback)


@pytest.fixture
def client(served: Running, google: Upstream) -> Iterator[httpx.Client]:
    google.recorded.clear()
    google.answer = provider
    base = f"https://{GOOGLE}:{google.port}"
    with served.proxied(base) as client:
        yield client


def call(client: httpx.Client, path: str, **more: Any) -> httpx.Response:
    body = CALLS.get(path)
    target = path.format(KEY)
    return client.get(target, **more) if body is None else client.post(target, json=body, **more)


def shown(running: Running, folder: Path) -> bytes:
    """Everything that the gateway shows or keeps."""
    with operator(running) as web:
        seen = everything(web)
        dump = web.get("/flows/dump").content
    kept = b"".join(path.read_bytes() for path in running.data.iterdir() if path.is_file())
    stored = dump + har(dump, folder)
    assert b"gemini-x" in stored
    return seen + stored + kept + running.output().encode()


def test_the_key_goes_to_google_as_a_header_and_is_shown_nowhere(
    served: Running, client: httpx.Client, google: Upstream, tmp_path: Path
) -> None:
    for host in (GOOGLE, VERTEX):
        client.base_url = httpx.URL(f"https://{host}:{google.port}")
        for path, body in CALLS.items():
            answer = call(client, path)
            assert answer.status_code == 200, answer.text
            assert (body is not ASKED) or MAIL in answer.text
            sent = google.recorded[-1]
            assert sent.header("x-goog-api-key") == KEY
            rest = [part for part in path.partition("?")[2].split("&") if not part.endswith("={}")]
            assert sent.query == "&".join(rest)
            assert KEY not in answer.text + str(answer.headers)
            assert MAIL.encode() not in sent.body
    assert KEY.encode() not in shown(served, tmp_path)


def test_one_key_in_both_places_is_one(client: httpx.Client, google: Upstream) -> None:
    path = f"{MODEL}:generateContent?key={{}}"
    assert call(client, path, headers={"x-goog-api-key": KEY}).status_code == 200
    assert [value for name, value in google.recorded[-1].headers if name == "x-goog-api-key"] == [KEY]


@pytest.mark.parametrize(
    ("query", "headers", "code"),
    [
        (f"key={KEY}&key={KEY}", {}, "invalid_request"),
        (f"key={KEY}&k%65y=another", {}, "invalid_request"),
        (f"key={KEY}", {"x-goog-api-key": "another-key-of-the-provider"}, "invalid_request"),
        (f"key={KEY}", {"authorization": "Bearer another-key-of-the-provider"}, "invalid_request"),
        (f"key={MAIL}", {}, "invalid_request"),
        (f"key={KEY}%0d%0ax-note: 1", {}, "invalid_request"),
        (f"key={OPERATOR_KEY}", {}, "unauthorized"),
        (f"key={KEY}&q={MAIL}", {}, "invalid_request"),
        (f"q={KEY}", {}, "invalid_request"),
    ],
)
def test_what_is_refused(
    served: Running, client: httpx.Client, google: Upstream, query: str, headers: dict[str, str], code: str
) -> None:
    answers = [
        client.post(f"{MODEL}:generateContent?{query}", json=ASKED, headers=headers),
        client.get(f"/v1beta/models?{query}", headers=headers),
    ]
    for answer in answers:
        assert code in answer.text
        assert answer.status_code == (401 if code == "unauthorized" else 400)
        assert not [secret for secret in (KEY, MAIL, OPERATOR_KEY) if secret in answer.text]
    assert not google.recorded


def test_other_hosts_get_no_key_from_a_query(client: httpx.Client, google: Upstream) -> None:
    client.base_url = httpx.URL(f"https://{OTHER}:{google.port}")
    for path in (f"{MODEL}:generateContent?key={{}}", "/v1beta/models?pageSize=2&key={}"):
        assert call(client, path).status_code == 400
    assert not google.recorded


def test_at_the_gateway_it_is_the_gateways_key(served: Running, upstream: Upstream, tmp_path: Path) -> None:
    upstream.answer = provider
    for spelling in ("key={}&alt=sse", "alt=sse&k%65y={}"):
        answer = httpx.post(
            f"{served.url}{MODEL}:streamGenerateContent?{spelling.format(OPERATOR_KEY)}",
            json=ASKED,
            trust_env=False,
            verify=PLAIN,
        )
        assert answer.status_code == 200, answer.text
        assert MAIL in answer.text
        assert upstream.recorded[-1].query == "alt=sse"
    assert OPERATOR_KEY.encode() not in upstream.seen
    twice = f"{served.url}{MODEL}:generateContent?key={OPERATOR_KEY}&key={OPERATOR_KEY}"
    assert httpx.post(twice, json=ASKED, trust_env=False, verify=PLAIN).status_code == 400
    assert OPERATOR_KEY.encode() not in shown(served, tmp_path)
