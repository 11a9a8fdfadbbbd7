"""The upstream surface over real connections: what leaves, what comes back, and every way it can go wrong."""

import asyncio
import contextlib
import gzip
import json
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
import trustme
from pydantic import SecretStr

from gateway.config.outbound_proxy import OutboundProxy
from gateway.config.upstreams import UpstreamSettings
from gateway.errors import BadUpstream, UpstreamTimeout
from gateway.surfaces.upstream import UpstreamSurface, _trusted
from tests.e2e.outbound_proxy import ConnectProxy
from tests.gateway.surfaces.local_server import Say, Server, drip, raw, reply, serving, silence
from tests.tables import table

CASES = table(__file__)

pytestmark = pytest.mark.anyio

KEY = "sk-" + "upstream-key-of-the-tests"
ANSWER = json.dumps({"id": "x", "choices": []}).encode()


@contextlib.asynccontextmanager
async def connected(
    say: Say, *, tls: ssl.SSLContext | None = None, limit: int = 1 << 20, key: str = KEY, **config: object
) -> AsyncIterator[tuple[Server, UpstreamSurface]]:
    """A provider that answers so, and the surface that asks it."""
    async with serving(say, tls) as server:
        settings = UpstreamSettings.model_validate({"base_url": server.base_url, **config})
        acme = UpstreamSurface("acme", settings, SecretStr(key) if key else None, response_limit=limit)
        yield server, acme
        await acme.aclose()


async def test_sends_the_bytes_as_they_are_with_its_own_credential() -> None:
    body = b'{"model":"m",  "messages":[{"role":"user","content":"[PERSON_7KQ2M]"}]}'
    async with connected(reply(ANSWER)) as (server, acme):
        answer = await acme.send(body, [(b"X-Trace", b"7"), (b"Host", b"elsewhere"), (b"Accept-Encoding", b"gzip")])
    (request,) = server.requests
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.body == body
    assert request.values("authorization") == [f"Bearer {KEY}"]
    assert request.values("host") == [f"localhost:{server.port}"]
    assert request.values("accept-encoding") == ["identity"]
    assert request.values("content-type") == ["application/json"]
    assert request.values("x-trace") == ["7"]
    assert answer == (200, ANSWER)


@pytest.mark.parametrize(
    ("fields", "key", "sent"),
    [([(b"Authorization", b"Bearer theirs")], KEY, ["Bearer theirs"]), ([], "", [])],
    ids=["of the client", "none"],
)
async def test_the_configured_credential_is_not_sent(
    fields: list[tuple[bytes, bytes]], key: str, sent: list[str]
) -> None:
    async with connected(reply(ANSWER), key=key) as (server, acme):
        await acme.send(b"{}", fields)
    assert server.requests[0].values("authorization") == sent


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize(("header", "lead"), [("api-key", ""), ("x-api-key", ""), ("authorization", "Bearer ")])
async def test_the_key_is_in_the_header_that_the_settings_name(wire: str, header: str, lead: str) -> None:
    async with connected(reply(ANSWER), wire=wire, key_header=header) as (server, acme):
        await acme.send(b"{}")
    sent = {name: server.requests[0].values(name) for name in ("api-key", "x-api-key", "authorization")}
    assert sent == {name: [lead + KEY] if name == header else [] for name in sent}


async def test_connections_are_kept() -> None:
    async with connected(reply(ANSWER)) as (server, acme):
        for _ in range(5):
            await acme.send(b"{}")
    assert len(server.requests) == 5
    assert server.connections == 1


PROXY_FAULTS = {
    b"HTTP/1.1 407 canary\r\n\r\n": "the outbound proxy requires other credentials",
    b"HTTP/1.1 403 canary\r\n\r\n": "the outbound proxy does not permit",
    b"HTTP/1.1 502 canary\r\n\r\n": "the outbound proxy could not connect",
    b"": "the outbound proxy does not answer",
}


@contextlib.asynccontextmanager
async def through(
    proxy: ConnectProxy, url: str, scheme: Literal["http", "https"] = "http", **config: object
) -> AsyncIterator[UpstreamSurface]:
    """The surface of an upstream that is reached through a proxy."""
    way = OutboundProxy(scheme, "localhost", proxy.port, SecretStr("user:canary-pw"))
    settings = UpstreamSettings.model_validate({"base_url": url, **config})
    acme = UpstreamSurface("acme", settings, proxy=way)
    yield acme
    await acme.aclose()


@pytest.mark.parametrize("to_proxy", ["http", "https"])
async def test_reaches_a_tls_upstream_through_a_proxy(to_proxy: Literal["http", "https"], tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("acme.test").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with ConnectProxy("user:canary-pw").running(authority if to_proxy == "https" else None) as proxy:
        async with serving(reply(ANSWER), context) as server:
            url = f"https://acme.test:{server.port}/v1"
            async with through(proxy, url, to_proxy, ca_file=tmp_path / "ca.pem") as acme:
                assert await acme.send(b"{}") == (200, ANSWER)
    assert proxy.asked == [f"CONNECT acme.test:{server.port}"]
    assert server.requests[0].values("proxy-authorization") == []


@pytest.mark.parametrize("said", PROXY_FAULTS, ids=lambda said: said[9:12].decode() or "unreachable")
async def test_a_fault_of_the_proxy_is_named_as_such(said: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with ConnectProxy(answer=said).running() as proxy:
        if not said:
            proxy.port = 1
        for url in ("https://acme.test/v1", *(["http://acme.test/v1"] if b"407" in said or not said else [])):
            async with through(proxy, url) as acme:
                with pytest.raises(BadUpstream) as refused:
                    await acme.send(b"{}")
            assert PROXY_FAULTS[said] in refused.value.message
    assert "canary" not in caplog.text + refused.value.message


async def test_certificates_in_a_tunnel_are_the_upstreams() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("acme.test").configure_cert(context)
    with ConnectProxy().running() as proxy:
        async with (
            serving(reply(ANSWER), context) as server,
            through(proxy, f"https://acme.test:{server.port}/v1") as acme,
        ):
            with pytest.raises(BadUpstream, match="authority that is not trusted"):
                await acme.send(b"{}")


async def test_a_proxy_of_the_environment_cannot_divert_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with connected(reply(ANSWER)) as (_, acme):
        assert (await acme.send(b"{}"))[0] == 200


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 Unauthorized", "429 Too Many Requests", "503 Service Unavailable"]
)
async def test_an_error_status_is_passed_on_with_its_body(status: str) -> None:
    body = b'{"error":{"message":"about [PERSON_7KQ2M]"}}'
    async with connected(reply(body, status, retry_after="3")) as (_, acme):
        answer = await acme.send(b"{}")
        with pytest.raises(BadUpstream) as refused:
            await acme.complete({})
    assert answer == (int(status[:3]), body)
    assert refused.value.code == "upstream_invalid"


async def test_complete_gives_the_object() -> None:
    async with connected(reply(ANSWER)) as (server, acme):
        assert await acme.complete({"model": "m"}) == {"id": "x", "choices": []}
    assert json.loads(server.requests[0].body) == {"model": "m"}


async def test_an_answer_that_is_no_object_is_invalid() -> None:
    async with connected(reply(b"<html>")) as (_, acme):
        with pytest.raises(BadUpstream) as refused:
            await acme.complete({})
    assert refused.value.code == "upstream_invalid"


async def test_a_compressed_answer_is_read_all_the_same() -> None:
    async with connected(reply(gzip.compress(ANSWER), content_encoding="gzip")) as (_, acme):
        answer = await acme.send(b"{}")
    assert answer == (200, ANSWER)


async def broken(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{")
    writer.close()


CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n" + b"x" * 5000 + b"\r\n0\r\n\r\n"
REDIRECTS = ("301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect")
REFUSED: dict[str, tuple[Say, str]] = {
    "long, with its length": (reply(b"x" * 5000), "upstream_invalid"),
    "long, in chunks": (raw(CHUNKS), "upstream_invalid"),
    "gzip bomb": (reply(gzip.compress(b"\0" * 5_000_000), content_encoding="gzip"), "upstream_invalid"),
    "false coding": (reply(b"not gzip", content_encoding="gzip"), "upstream_invalid"),
    "unknown coding": (reply(b"abc", content_encoding="snappy"), "upstream_invalid"),
    **{each: (reply(b"", each, location="http://127.0.0.1:9/elsewhere"), "upstream_invalid") for each in REDIRECTS},
    "broken off": (broken, "upstream_unreachable"),
}


@pytest.mark.parametrize(("say", "code"), REFUSED.values(), ids=REFUSED)
async def test_an_unusable_answer_is_refused(say: Say, code: str) -> None:
    """Redirects are neither followed nor passed on."""
    async with connected(say, limit=4096) as (server, acme):
        with pytest.raises(BadUpstream) as refused:
            await acme.send(b"{}")
    assert refused.value.code == code
    assert "elsewhere" not in refused.value.message
    assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("say", [pytest.param(silence, id="silence"), pytest.param(drip, id="drip")])
async def test_the_time_to_answer_is_bounded_as_a_whole(say: Say) -> None:
    async with connected(say, timeout_seconds=0.3) as (_, acme):
        with pytest.raises(UpstreamTimeout) as late:
            await acme.send(b"{}")
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


def issued(folder: Path, host: str) -> tuple[Path, ssl.SSLContext]:
    """Returns the file of an authority, and the settings of a server with its certificate for the host."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    return folder / "ca.pem", context


async def test_tls_with_a_named_authority_and_refused_without(tmp_path: Path) -> None:
    ca_file, context = issued(tmp_path, "localhost")
    async with connected(reply(ANSWER), tls=context, ca_file=ca_file) as (_, trusting):
        assert (await trusting.send(b"{}"))[1] == ANSWER
    async with connected(reply(ANSWER), tls=context) as (server, strict):
        with pytest.raises(BadUpstream) as refused:
            await strict.send(b"{}")
    assert "ca_file" in refused.value.message
    assert server.requests == []


async def test_a_certificate_for_another_host_is_refused(tmp_path: Path) -> None:
    ca_file, context = issued(tmp_path, "other.example")
    async with connected(reply(ANSWER), tls=context, ca_file=ca_file) as (server, acme):
        with pytest.raises(BadUpstream):
            await acme.send(b"{}")
    assert server.requests == []


def test_authorities_are_loaded_again_only_if_the_file_has_others(tmp_path: Path) -> None:
    ca_file = tmp_path / "ca.pem"
    contexts = []
    for authority in (trustme.CA(), trustme.CA()):
        authority.cert_pem.write_to_path(ca_file)
        contexts += [_trusted(ca_file, plain=False) for _ in range(2)]
    assert [contexts.index(each) for each in contexts] == [0, 0, 2, 2]
    assert [len(each.get_ca_certs()) - len(_trusted(None, plain=False).get_ca_certs()) for each in contexts] == [1] * 4


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
    async with connected(reply(json.dumps(listed).encode()), wire=wire, models=("m*",)) as (server, acme):
        assert await acme.listed() == ("m-1",)
        assert await acme.listed() == ("m-1",)
    (request,) = server.requests
    assert request.line == line
    assert KEY in request.values(credential)[0]


async def test_bedrock_is_not_asked_for_a_list_and_gets_a_bearer() -> None:
    async with connected(reply(b"{}"), wire="bedrock") as (server, acme):
        assert await acme.listed() == ()
        assert acme.credential == (b"authorization", f"Bearer {KEY}".encode())
    assert not server.requests


async def test_an_upstream_without_a_list_lists_nothing() -> None:
    async with connected(reply(b"not found", status="404 Not Found")) as (_, acme):
        assert await acme.listed() == ()
