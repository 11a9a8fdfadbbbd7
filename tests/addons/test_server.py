"""What the gateway says when it is up."""

from types import SimpleNamespace

import pytest

from addons import server
from gateway.config.settings import load_settings


def test_the_addresses_shown_can_be_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = [SimpleNamespace(listen_addrs=[("::1", port, 0, 0)]) for port in (8000, 8080)]
    master = SimpleNamespace(addons={"proxyserver": SimpleNamespace(servers=servers)})
    monkeypatch.setattr(server, "ctx", SimpleNamespace(master=master))
    server.Welcome(load_settings(host="::1"), "ca.pem", None).running()
    shown = capsys.readouterr().out
    assert "curl -s http://[::1]:8000/v1/chat/completions" in shown
    assert "HTTPS_PROXY=http://[::1]:8080" in shown
