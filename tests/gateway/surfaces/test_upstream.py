"""The upstream surface over real connections: what leaves, what comes back, and every way it can go wrong."""

import gzip
import json
import socket
import ssl
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from gateway.config.upstreams import UpstreamSettings
from gateway.errors import BadUpstream, UpstreamTimeout
from gateway.surfaces.upstream import UpstreamSurface
from tests.gateway.surfaces.local_server import Server, drip, raw, reply, serving, silence
from tests.tables import table

CASES = table(__file__)

pytestmark = pytest.mark.anyio

KEY = "sk-" + "upstream-key-of-the-tests"
ANSWER = json.dumps({"id": "x", "choices": []}).encode()


def surface(server: Server, *, limit: int = 1 << 20, **config: object) -> UpstreamSurface:
    key = config.pop("key", KEY)
    settings = UpstreamSettings.model_validate({"base_url": server.base_url, **config})
    return UpstreamSurface("acme", settings, SecretStr(str(key)) if key else None, response_limit=limit)


async def test_sends_the_bytes_as_they_are_with_its_own_credential() -> None:
    body = b'{"model":"m",  "messages":[{"role":"user","content":"[PERSON_7KQ2M]"}]}'
    async with serving(reply(ANSWER)) as server:
        acme = surface(server)
        answer = await acme.send(body, [(b"X-Trace", b"7"), (b"Host", b"elsewhere"), (b"Accept-Encoding", b"gzip")])
        await acme.aclose()
    (request,) = server.requests
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.body == body
    assert request.values("authorization") == [f"Bearer {KEY}"]
    assert request.values("host") == [f"localhost:{server.port}"]
    assert request.values("accept-encoding") == ["identity"]
    assert request.values("content-type") == ["application/json"]
    assert request.values("x-trace") == ["7"]
    assert answer == (200, ANSWER)


async def test_the_clients_own_credential_goes_before_the_configured_one() -> None:
    async with serving(reply(ANSWER)) as server:
        acme = surface(server)
        await acme.send(b"{}", [(b"Authorization", b"Bearer theirs")])
        await acme.aclose()
    assert server.requests[0].values("authorization") == ["Bearer theirs"]


async def test_without_a_key_no_credential_is_sent() -> None:
    async with serving(reply(ANSWER)) as server:
        acme = surface(server, key=None)
        await acme.send(b"{}")
        await acme.aclose()
    assert server.requests[0].values("authorization") == []


async def test_connections_are_kept() -> None:
    async with serving(reply(ANSWER)) as server:
        acme = surface(server)
        for _ in range(5):
            await acme.send(b"{}")
        await acme.aclose()
    assert len(server.requests) == 5
    assert server.connections == 1


async def test_a_proxy_of_the_environment_cannot_divert_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving(reply(ANSWER)) as server:
        acme = surface(server)
        assert (await acme.send(b"{}"))[0] == 200
        await acme.aclose()


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 Unauthorized", "429 Too Many Requests", "503 Service Unavailable"]
)
async def test_an_error_status_is_passed_on_with_its_body(status: str) -> None:
    body = b'{"error":{"message":"about [PERSON_7KQ2M]"}}'
    async with serving(reply(body, status, retry_after="3")) as server:
        acme = surface(server)
        answer = await acme.send(b"{}")
        with pytest.raises(BadUpstream) as refused:
            await acme.complete({})
        await acme.aclose()
    assert answer == (int(status[:3]), body)
    assert refused.value.code == "upstream_invalid"


async def test_complete_gives_the_object() -> None:
    async with serving(reply(ANSWER)) as server:
        acme = surface(server)
        assert await acme.complete({"model": "m"}) == {"id": "x", "choices": []}
        await acme.aclose()
    assert json.loads(server.requests[0].body) == {"model": "m"}


async def test_an_answer_that_is_no_object_is_invalid() -> None:
    async with serving(reply(b"<html>")) as server:
        acme = surface(server)
        with pytest.raises(BadUpstream) as refused:
            await acme.complete({})
        await acme.aclose()
    assert refused.value.code == "upstream_invalid"


async def test_a_compressed_answer_is_read_all_the_same() -> None:
    async with serving(reply(gzip.compress(ANSWER), content_encoding="gzip")) as server:
        acme = surface(server)
        answer = await acme.send(b"{}")
        await acme.aclose()
    assert answer == (200, ANSWER)


@pytest.mark.parametrize(
    "say",
    [
        pytest.param(reply(b"x" * 5000), id="long-with-length"),
        pytest.param(
            raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n" + b"x" * 5000 + b"\r\n0\r\n\r\n"),
            id="long-in-chunks",
        ),
        pytest.param(reply(gzip.compress(b"\0" * 5_000_000), content_encoding="gzip"), id="gzip-bomb"),
        pytest.param(reply(b"not gzip", content_encoding="gzip"), id="false-coding"),
        pytest.param(reply(b"abc", content_encoding="snappy"), id="unknown-coding"),
    ],
)
async def test_an_answer_beyond_bounds_is_refused(say: object) -> None:
    async with serving(say) as server:  # type: ignore[arg-type]
        acme = surface(server, limit=4096)
        with pytest.raises(BadUpstream) as refused:
            await acme.send(b"{}")
        await acme.aclose()
    assert refused.value.code == "upstream_invalid"


@pytest.mark.parametrize(
    "status", ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"]
)
async def test_a_redirect_is_neither_followed_nor_passed_on(status: str) -> None:
    async with serving(reply(b"", status, location="http://127.0.0.1:9/elsewhere")) as server:
        acme = surface(server)
        with pytest.raises(BadUpstream) as refused:
            await acme.send(b"{}")
        await acme.aclose()
    assert refused.value.code == "upstream_invalid"
    assert "elsewhere" not in refused.value.message
    assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("say", [pytest.param(silence, id="silence"), pytest.param(drip, id="drip")])
async def test_the_time_to_answer_is_bounded_as_a_whole(say: object) -> None:
    async with serving(say) as server:  # type: ignore[arg-type]
        acme = surface(server, timeout_seconds=0.3)
        with pytest.raises(UpstreamTimeout) as late:
            await acme.send(b"{}")
        await acme.aclose()
    assert late.value.code == "upstream_timeout"


async def test_an_upstream_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        acme = UpstreamSurface("acme", UpstreamSettings(base_url=f"http://127.0.0.1:{port}/hidden-path"))
        with pytest.raises(BadUpstream) as refused:
            await acme.send(b'{"private":"words"}')
        await acme.aclose()
    assert refused.value.code == "upstream_unreachable"
    assert refused.value.__cause__ is None
    assert not any(word in refused.value.message for word in ("hidden-path", str(port), KEY, "words"))


async def test_a_broken_off_answer_is_no_answer() -> None:
    async def broken(writer: object) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{")  # type: ignore[attr-defined]
        writer.close()  # type: ignore[attr-defined]

    async with serving(broken) as server:
        acme = surface(server)
        with pytest.raises(BadUpstream) as refused:
            await acme.send(b"{}")
        await acme.aclose()
    assert refused.value.code == "upstream_unreachable"


async def test_tls_with_a_named_authority_and_refused_without(tmp_path: Path) -> None:
    authority = trustme.CA()
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    async with serving(reply(ANSWER), tls=context) as server:
        trusting = surface(server, ca_file=ca_file)
        assert (await trusting.send(b"{}"))[1] == ANSWER
        await trusting.aclose()
        strict = surface(server)
        with pytest.raises(BadUpstream) as refused:
            await strict.send(b"{}")
        await strict.aclose()
    assert "ca_file" in refused.value.message
    assert len(server.requests) == 1


async def test_a_certificate_for_another_host_is_refused(tmp_path: Path) -> None:
    authority = trustme.CA()
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("other.example").configure_cert(context)
    async with serving(reply(ANSWER), tls=context) as server:
        acme = surface(server, ca_file=ca_file)
        with pytest.raises(BadUpstream):
            await acme.send(b"{}")
        await acme.aclose()
    assert server.requests == []


def test_an_unusable_ca_file_fails_at_start(tmp_path: Path) -> None:
    nonsense = tmp_path / "ca.pem"
    nonsense.write_text("no certificate")
    config = UpstreamSettings(base_url="https://localhost/v1", ca_file=nonsense)
    with pytest.raises(ValueError, match="CA file"):
        UpstreamSurface("acme", config)


async def test_the_key_is_in_no_repr() -> None:
    acme = UpstreamSurface("acme", UpstreamSettings(base_url="https://localhost/v1"), SecretStr(KEY))
    assert KEY not in repr(acme) + str(vars(acme))
    await acme.aclose()


@pytest.mark.parametrize(("wire", "line", "credential", "listed"), CASES["lists_the_models_that_it_serves"])
async def test_lists_the_models_that_it_serves(
    wire: str, line: str, credential: str, listed: dict[str, object]
) -> None:
    async with serving(reply(json.dumps(listed).encode())) as server:
        acme = surface(server, wire=wire, models=("m*",))
        assert await acme.listed() == ("m-1",)
        assert await acme.listed() == ("m-1",)
        await acme.aclose()
    (request,) = server.requests
    assert request.line == line
    assert KEY in request.values(credential)[0]


async def test_an_upstream_without_a_list_lists_nothing() -> None:
    async with serving(reply(b"not found", status="404 Not Found")) as server:
        acme = surface(server)
        assert await acme.listed() == ()
        await acme.aclose()
