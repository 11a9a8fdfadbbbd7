"""The welcome message once the gateway is up."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from addons import server
from gateway.config.loading import load_settings
from tests.certificates import write_certificate


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *ports: int, **given: Any) -> str:
    servers = [SimpleNamespace(listen_addrs=[("::1", port, 0, 0)]) for port in ports]
    master = SimpleNamespace(addons={"proxyserver": SimpleNamespace(servers=servers)})
    monkeypatch.setattr(server, "ctx", SimpleNamespace(master=master))
    server.Welcome(load_settings(**given), "ca.pem", "http://127.0.0.1:8081/").running()
    text = capsys.readouterr().out
    assert "mitmweb:         http://127.0.0.1:8081/\n" in text
    assert "svck_" not in text
    return text


def test_with_a_certificate_the_addresses_have_a_name_that_it_is_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    certificate, key = write_certificate(tmp_path, "gateway.test")
    text = shown(monkeypatch, capsys, 8000, 8080, host="0.0.0.0", tls_certificate=certificate, tls_key=key)
    assert "ca-bundle.pem https://gateway.test:8000/v1/chat/completions" in text
    assert "HTTPS_PROXY=https://gateway.test:8080 SSL_CERT_FILE=" in text
    assert "OPENAI_BASE_URL=https://gateway.test:8000/v1 OPENAI_API_KEY=$KEY SSL_CERT_FILE=" in text


@pytest.mark.parametrize(
    ("given", "gateway", "proxy"),
    [
        ({"host": "::1", "proxy_host": "::1"}, "http://[::1]:8000", "HTTPS_PROXY=http://[::1]:8080"),
        ({"host": "::1"}, "http://[::1]:8000", "HTTPS_PROXY=http://127.0.0.1:8080"),
        ({"proxy_key": True}, "http://127.0.0.1:8000", "HTTPS_PROXY=http://key:$KEY@127.0.0.1:8080"),
        ({"proxy": False}, "http://127.0.0.1:8000", None),
    ],
)
def test_the_addresses_shown_can_be_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: Any, gateway: str, proxy: str | None
) -> None:
    text = shown(monkeypatch, capsys, *((8000,) if proxy is None else (8000, 8080)), **given)
    assert f"{gateway}/v1" in text
    assert ("HTTPS_PROXY" in text) is ("as a proxy" in text) is (proxy is not None)
    assert proxy is None or proxy in text
