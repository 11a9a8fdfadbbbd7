"""The welcome message once the gateway is up."""

from types import SimpleNamespace
from typing import Any

import pytest

from addons import server
from gateway.config.settings import load_settings


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *ports: int, **given: Any) -> str:
    servers = [SimpleNamespace(listen_addrs=[("::1", port, 0, 0)]) for port in ports]
    master = SimpleNamespace(addons={"proxyserver": SimpleNamespace(servers=servers)})
    monkeypatch.setattr(server, "ctx", SimpleNamespace(master=master))
    server.Welcome(load_settings(**given), "ca.pem", "http://127.0.0.1:8081/").running()
    text = capsys.readouterr().out
    assert "mitmweb:         http://127.0.0.1:8081/\n" in text
    assert "svck_" not in text
    return text


def test_the_addresses_shown_can_be_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(monkeypatch, capsys, 8000, 8080, host="::1", proxy_host="::1")
    assert "curl -s http://[::1]:8000/v1/chat/completions" in text
    assert "HTTPS_PROXY=http://[::1]:8080" in text


def test_each_listener_has_its_own_address(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(monkeypatch, capsys, 8000, 8080, host="::1")
    assert "HTTPS_PROXY=http://127.0.0.1:8080" in text


def test_a_proxy_that_asks_for_a_key_is_shown_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(monkeypatch, capsys, 8000, 8080, proxy_key=True)
    assert "HTTPS_PROXY=http://key:$KEY@127.0.0.1:8080" in text


def test_a_proxy_that_is_switched_off_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(monkeypatch, capsys, 8000, proxy=False)
    assert "http://127.0.0.1:8000/v1" in text
    assert "HTTPS_PROXY" not in text
    assert "as a proxy" not in text
