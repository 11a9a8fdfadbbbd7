"""The server of mitmweb: it speaks TLS, refuses plain HTTP, and does not wait forever."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import trustme
from mitmproxy.tools.web.app import AuthRequestHandler
from tornado.web import Application

from addons.certificate_files import CertificateFiles
from addons.patches.mitmweb_operators import mark_cookies
from addons.patches.tornado_server import make_server
from tests.certificates import write_certificate


class Page(AuthRequestHandler):
    def get_current_user(self) -> bool:
        return True

    def get(self) -> None:
        self.set_cookie("name", "value")
        self.write(self.request.protocol)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(params=["tls", "plain"])
async def port(
    request: pytest.FixtureRequest, authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[int]:
    monkeypatch.setattr(AuthRequestHandler, "set_cookie", AuthRequestHandler.set_cookie)
    mark_cookies()
    files = CertificateFiles(*write_certificate(tmp_path, authority=authority)) if request.param == "tls" else None
    server = make_server(
        Application([("/", Page)]), files, name="mitmweb", most_connections=8, head_seconds=0.2, idle_seconds=0.5
    )
    server.listen(0, "127.0.0.1")
    (listener,) = (each for each in server._sockets.values() if each.family is socket.AF_INET)
    yield listener.getsockname()[1]
    server.stop()
    await server.close_all_connections()


async def said(port: int, data: bytes, trust: ssl.SSLContext | None = None) -> bytes:
    """Sends the data, and returns what is received until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    writer.write(data)
    received = b""
    with suppress(ConnectionResetError):
        received = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    # Reset by the server, or TLS that was not ended.
    with suppress(OSError):
        await writer.wait_closed()
    return received


REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("port", ["tls"], indirect=True)
async def test_with_a_certificate_it_speaks_tls_and_refuses_plain_http(port: int, authority: trustme.CA) -> None:
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    answer = await said(port, REQUEST, trust)
    assert b"Set-Cookie: name=value; Path=/; Secure" in answer
    assert answer.endswith(b"https")
    refused = await said(port, REQUEST)
    assert refused.startswith(b"HTTP/1.1 400 ")
    assert b'"tls_required"' in refused


@pytest.mark.parametrize("port", ["plain"], indirect=True)
async def test_without_a_certificate_it_speaks_plain_http(port: int) -> None:
    answer = await said(port, REQUEST)
    assert answer.endswith(b"http")
    assert b"Secure" not in answer


@pytest.mark.parametrize("data", [b"", b"\x16", b"\x16\x03\x01\x00\xc8\x01"])
async def test_a_client_that_does_not_continue_is_closed(port: int, data: bytes) -> None:
    assert (await said(port, data))[:4] in {b"", b"HTTP"}


@pytest.mark.parametrize("port", ["plain"], indirect=True)
async def test_a_head_has_its_time_in_all_and_a_connection_may_idle(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    began = asyncio.get_running_loop().time()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in (REQUEST.replace(b"close", b"keep-alive"), b"GET / HTTP/1.1\r\nX: "):
        writer.write(piece)
        await asyncio.sleep(0.3)
    assert (await reader.readuntil(b"http")).startswith(b"HTTP/1.1 200 ")
    with suppress(OSError):
        for _ in range(50):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)
    assert reader.at_eof()
    writer.close()
    assert asyncio.get_running_loop().time() - began < 5
    assert caplog.messages == ["mitmweb: closed connections whose request did not arrive in time: 1"]


async def test_the_connection_that_waited_longest_makes_room(
    port: int, authority: trustme.CA, caplog: pytest.LogCaptureFixture
) -> None:
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(9)]
    assert await asyncio.wait_for(opened[0][0].read(), 0.15) == b""
    assert not opened[-1][0].at_eof()
    for _, writer in opened:
        writer.close()
    assert caplog.messages == ["mitmweb: closed connections to make room for new ones, beyond 8: 1"]


@pytest.mark.parametrize("port", ["tls"], indirect=True)
async def test_failures_of_tls_are_one_line(port: int, caplog: pytest.LogCaptureFixture) -> None:
    def connect() -> None:
        # asyncio's own streams send no alert.
        with socket.create_connection(("127.0.0.1", port)) as plain, pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")

    for _ in range(3):
        await asyncio.to_thread(connect)
    await said(port, b"\x16\x03\x01\x00\x05canary-4711")
    await asyncio.sleep(0.1)
    assert sorted(caplog.messages) == [
        "mitmweb: closed connections whose TLS failed, because the client does not trust the certificate: 1",
        "mitmweb: closed connections whose TLS failed, because the data is not valid TLS: 1",
    ]


@pytest.mark.parametrize("port", ["tls"], indirect=True)
async def test_bytes_of_another_protocol_get_no_answer(port: int) -> None:
    assert await said(port, b"\x05\x01\x00") == b""
