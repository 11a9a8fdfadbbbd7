"""Failed handshakes of clients are one line a minute for each listener and cause."""

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy.proxy.mode_specs import ProxyMode

from addons import failed_handshakes, logs
from addons.failed_handshakes import FailedHandshakes

SERVER = logging.getLogger("mitmproxy.proxy.server")
TRUST = "The client does not trust the proxy's certificate"
FAILURES = [
    ("regular", f"{TRUST} for canary-4711 (tls)"),
    ("reverse:http://canary-4711", f"{TRUST} for canary-4711 (tls)"),
    ("regular", "Cannot parse ClientHello: canary-4711"),
    ("regular", "The client disconnected during the handshake."),
]


@pytest.fixture
def addon() -> Iterator[FailedHandshakes]:
    factory = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logs._Record)
    made = FailedHandshakes()
    made.running()
    yield made
    made.done()
    logging.setLogRecordFactory(factory)


def fail(addon: FailedHandshakes, mode: str, error: str) -> None:
    """As mitmproxy does it: a line, and then the hook."""
    SERVER.warning(f"Client TLS handshake failed. {error}")
    client = SimpleNamespace(proxy_mode=ProxyMode.parse(mode), error=error)
    addon.tls_failed_client(cast(Any, SimpleNamespace(conn=client, context=SimpleNamespace(client=client))))


async def test_each_cause_is_a_line_with_the_listener(
    addon: FailedHandshakes, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        for mode, error in FAILURES:
            fail(addon, mode, error)
        SERVER.warning("TLS Error: canary-4711")
    SERVER.warning("Server TLS handshake failed. canary-4711")
    first = [
        f"proxy: Client TLS handshake failed. {TRUST}: 1",
        f"gateway: Client TLS handshake failed. {TRUST}: 1",
        "proxy: Client TLS handshake failed. Cannot parse ClientHello: 1",
        "a TLS connection was ended by an alert of the other side or by data that is no TLS: 1",
    ]
    assert caplog.messages == [*first, "TLS handshake with an upstream failed"]
    caplog.clear()
    addon._flush()
    assert caplog.messages == []
    addon.done()
    assert caplog.messages == [line.replace(": 1", ": 2") for line in first]
    assert failed_handshakes._AFTER in caplog.messages[-1]
