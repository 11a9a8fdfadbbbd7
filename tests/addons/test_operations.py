"""The operations listener: three paths without a key, and answers while the gateway's process gives none."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from addons import operations
from addons.certificate_files import CertificateFiles
from addons.flow_state import FlowStates
from addons.metrics import Metrics
from addons.operations import OperationsListener
from gateway.config.loading import load_settings
from gateway.errors import GatewayError, Unavailable
from gateway.http.metrics import exposition, health
from tests.certificates import write_certificate
from tests.e2e.server import free_port

BROKEN = Unavailable("The database is missing.")
LOST = Unavailable("It has stopped.", code="gateway_unavailable")


class Gateway:
    """Answers, unless it hangs or has an error."""

    error: GatewayError | None = None
    hangs = False

    async def check(self) -> None:
        if self.hangs:
            await asyncio.sleep(60)
        if self.error is not None:
            raise self.error

    async def metrics(self) -> bytes:
        await self.check()
        return exposition(health(lambda: True))


class Served:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> None:
        monkeypatch.setattr(operations, "_SECONDS", 0.2)
        self.port = free_port()
        self.states, self.gateway = FlowStates(), Gateway()
        settings = load_settings(None, operations_port=self.port, data_dir=folder, **given)
        gateway = self.gateway
        files = CertificateFiles.of(settings)
        self.listener = OperationsListener(gateway, Metrics(), self.states, settings, files)

    async def get(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", trust_env=False) as client:
            return await client.request(method, path, headers=headers)

    async def statuses(self) -> list[int]:
        return [(await self.get(path)).status_code for path in ("/livez", "/readyz", "/metrics")]


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    made = Served(tmp_path, monkeypatch)
    with made.listener.listening():
        yield made


async def test_a_gateway_that_is_well(served: Served) -> None:
    assert await served.statuses() == [200, 200, 200]
    text = (await served.get("/metrics")).text
    assert "\nprivacy_gateway_up 1.0\n" in text
    assert "\nprivacy_gateway_build_info{" in text
    head = await served.get("/metrics", "HEAD")
    assert (head.status_code, head.content, int(head.headers["content-length"])) == (200, b"", len(text))
    assert head.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("state", "statuses", "up"),
    [
        ({"hangs": True}, [503, 503, 200], 0),
        ({"error": LOST}, [503, 503, 200], 0),
        ({"error": BROKEN}, [200, 503, 200], 0),
        ({"closing": True}, [200, 503, 200], 1),
    ],
)
async def test_a_gateway_that_is_not(served: Served, state: dict[str, Any], statuses: list[int], up: int) -> None:
    for name, value in state.items():
        setattr(served.states if name == "closing" else served.gateway, name, value)
    assert await served.statuses() == statuses
    text = (await served.get("/metrics")).text
    assert f"\nprivacy_gateway_up {up}.0\n" in text
    assert f"\nprivacy_gateway_ready {up}.0\n" in text
    assert "\nprivacy_gateway_build_info{" in text
    assert (await served.get("/readyz")).json()["error"]["code"] in {
        "gateway_unavailable",
        "stopping",
        "store_unavailable",
    }


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/canary-4711", "GET", 404),
        ("/v1/chat/completions", "POST", 404),
        ("/metrics/", "GET", 404),
        ("/metrics?a=canary-4711", "GET", 200),
        ("http://127.0.0.1:1/metrics", "GET", 404),
        ("/metrics", "POST", 405),
        ("/readyz", "CANARY-4711", 405),
    ],
)
async def test_nothing_else_is_there(served: Served, path: str, method: str, status: int) -> None:
    _, writer = reader, _ = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    answer = (await asyncio.wait_for(reader.read(), 5)).decode()
    writer.close()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert "canary" not in answer.lower()
    assert ("\r\nAllow: GET, HEAD\r\n" in answer) == (status == 405)
    assert ("`gateway_port`" in answer) == path.startswith("/v1/")


@pytest.mark.parametrize(
    ("host", "own", "status"),
    [
        ("rebound.example", "127.0.0.1", 403),
        ("localhost", "127.0.0.1", 200),
        ("[::1]:9100", "127.0.0.1", 200),
        ("10.1.2.3:9100", "127.0.0.1", 200),
        ("gateway.example", "0.0.0.0", 200),
    ],
)
async def test_on_loopback_a_page_of_another_site_is_refused(
    host: str, own: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(tmp_path, monkeypatch, operations_host=own)
    with served.listener.listening():
        assert (await served.get("/livez", host=host)).status_code == status


@pytest.mark.parametrize("listeners", [["operations"], ["gateway"]])
async def test_the_certificate_is_used_unless_the_settings_leave_it_out(
    listeners: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    tls = dict(zip(("tls_certificate", "tls_key"), write_certificate(tmp_path, authority=authority), strict=True))
    served = Served(tmp_path, monkeypatch, tls_listeners=listeners, **tls)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    with served.listener.listening():
        plain = await served.get("/livez")
        if listeners == ["gateway"]:
            assert plain.status_code == 200
            return
        assert (plain.status_code, plain.json()["error"]["code"]) == (400, "tls_required")
        async with httpx.AsyncClient(verify=trust, trust_env=False) as client:
            assert (await client.get(f"https://localhost:{served.port}/livez")).status_code == 200


async def test_half_open_connections_and_long_heads_harm_no_one(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    opened = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(operations._CONNECTIONS)]
    for _, writer in opened:
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
    await asyncio.sleep(0.1)
    assert await served.statuses() == [200, 200, 200]
    for _, writer in opened:
        writer.close()
    for _ in range(3):
        with pytest.raises(httpx.TransportError):
            await served.get("/livez", a="x" * 200_000)
    assert caplog.messages == [
        "operations listener: closed connections to make room for new ones, beyond 64: 1",
        "operations listener: closed connections whose request has too long a head: 1",
    ]


async def test_it_is_off_by_default(tmp_path: Path) -> None:
    gateway = Gateway()
    with OperationsListener(gateway, Metrics(), FlowStates(), load_settings(None), None).listening():
        pass
