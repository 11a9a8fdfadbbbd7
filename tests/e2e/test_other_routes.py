"""Law 1 for calls that no wire knows: the proxy protects them, drops them, lets them read, or refuses them."""

from base64 import b64encode

import httpx
import pytest

from tests.e2e.raw import answer_to, status_of
from tests.e2e.server import Running
from tests.e2e.test_law_1_nothing_crosses_unprotected import CANARY, CHAT, entrance, refused
from tests.e2e.upstream import Reply, Upstream

__all__ = ["entrance"]

PNG = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256))).decode()


@pytest.mark.parametrize("path", ["/v1/fine_tuning/jobs", "/", "/v1/chat/completions/extra"])
def test_an_unknown_route(entrance: tuple[httpx.Client, Upstream], path: str) -> None:
    """The gateway has none. The proxy protects what is JSON and refuses the rest."""
    client, upstream = entrance
    upstream.answer = lambda _: Reply(b"{}")
    answer = client.post(path, json=CHAT)
    if upstream.scheme == "http":
        assert answer.status_code in {404, 405}
        read = client.get(f"{path}?q={CANARY}")
        assert read.status_code == (200 if path == "/" else 404)
        assert CANARY not in read.text
    else:
        assert answer.status_code == 200
        assert CANARY.encode() not in upstream.seen
        upstream.recorded.clear()
        form = {"content-type": "multipart/form-data; boundary=x"}
        refused(client.post(path, content=CANARY.encode(), headers=form), 415, "unsupported_media_type")
        assert client.post(path).status_code == 404
        refused(client.get(f"{path}?q={CANARY}"), 400, "invalid_request")
    assert not upstream.recorded


@pytest.mark.parametrize("path", ["/v1/fine_tuning/jobs", "/v1/chat/completions"])
def test_private_text_as_the_method(entrance: tuple[httpx.Client, Upstream], path: str) -> None:
    client, upstream = entrance
    upstream.answer = lambda _: Reply(b"{}")
    for method in ("DE89370400440532013000", "ANNA-SCHMIDT"):
        assert client.request(method, path, json=CHAT).status_code in {404, 405}
        assert client.request(method, path).status_code in {404, 405}
    assert not upstream.recorded


@pytest.mark.parametrize("place", ["v1/models?q=", ""])
def test_private_text_beside_bytes_that_are_no_text(running: Running, tls_upstream: Upstream, place: str) -> None:
    """Detection reads text. Such bytes must not make it fail, since clients retry after such a failure."""
    fields = f"Host: localhost:{tls_upstream.port}\r\nConnection: close\r\n\r\n".encode()
    said = answer_to(
        running.proxy_port, b"GET /%s\xff\xfe&to=%s HTTP/1.1\r\n" % (place.encode(), CANARY.encode()) + fields
    )
    assert status_of(said) == 400
    assert b"holds private text" in said
    assert not tls_upstream.recorded


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
def test_an_asterisk_for_the_path(running: Running, tls_upstream: Upstream, method: str) -> None:
    """RFC 9112 section 3.2.4. It is no fault of the gateway, which an operator would be told of."""
    body = '{"a": 1}' if method == "POST" else ""
    for port in (running.port, running.proxy_port):
        fields = (f"Host: localhost:{tls_upstream.port}", "Connection: close", f"Content-Length: {len(body)}")
        head = "\r\n".join([f"{method} * HTTP/1.1", *fields, "Content-Type: application/json"])
        assert status_of(answer_to(port, f"{head}\r\n\r\n{body}".encode())) == 404
    assert not tls_upstream.recorded


@pytest.mark.parametrize(
    "path",
    """
    /v1/uploads /v1/uploads/upload_1/parts /v1/audio/speech
    /v1/audio/transcriptions /v1/images/generations /v1/videos /v1/realtime/client_secrets /v1/realtime/calls
    /openai/deployments/x/images/generations /upload/v1beta/files /v1beta/models/x:asyncBatchEmbedContent
    """.split(),
)
def test_files_batches_and_sessions_are_refused(entrance: tuple[httpx.Client, Upstream], path: str) -> None:
    client, upstream = entrance
    message = client.post(path, json={"input": CANARY}).json()["error"]["message"]
    assert "cannot be protected" in message
    assert "`intercept_hosts`" in message or "`attachments`" in message
    assert not upstream.recorded


@pytest.mark.parametrize("path", ["/v1/traces/ingest", "/api/event_logging/v2/batch"])
def test_telemetry_is_dropped(running: Running, tls_upstream: Upstream, path: str) -> None:
    with running.proxied(tls_upstream.url) as client:
        answer = client.post(path, json={"data": [{"input": CANARY}]})
        assert answer.status_code == 202
    assert not tls_upstream.recorded


def test_a_call_that_reads_something_passes(running: Running, tls_upstream: Upstream) -> None:
    tls_upstream.answer = lambda _: Reply(b'{"flags": []}')
    with running.proxied(tls_upstream.url) as client:
        answer = client.get("/api/claude_code/settings", headers={"cookie": CANARY, "x-note": CANARY})
        assert answer.json() == {"flags": []}
        refused(client.get(f"/api/settings/{CANARY}"), 400, "invalid_request")
    assert len(tls_upstream.recorded) == 1
    assert CANARY.encode() not in tls_upstream.seen


def test_an_object_without_members_is_sent(running: Running, tls_upstream: Upstream) -> None:
    tls_upstream.answer = lambda _: Reply(b'{"id": "conv_1", "object": "conversation"}')
    with running.proxied(tls_upstream.url) as client:
        assert client.post("/v1/conversations", json={}).status_code == 200
    assert [request.body for request in tls_upstream.recorded] == [b"{}"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/other:predict", {"instances": [{"bytesBase64Encoded": PNG}]}),
        ("/v2/converse", {"messages": [{"role": "user", "content": [{"image": {"source": {"bytes": PNG}}}]}]}),
        ("/v2/talk", {"model": "m", "messages": [{"role": "user", "content": "What is this?", "images": [PNG]}]}),
    ],
)
def test_an_image_in_a_call_that_no_wire_knows(
    running: Running, tls_upstream: Upstream, path: str, body: dict[str, object]
) -> None:
    with running.proxied(tls_upstream.url) as client:
        refused(client.post(path, json=body), 415, "attachment_refused")
    assert not tls_upstream.recorded
