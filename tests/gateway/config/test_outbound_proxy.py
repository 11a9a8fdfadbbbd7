"""Which proxy reaches which host, and what settings and variables of proxies are refused without repeating them."""

from typing import Any

import pytest
from pydantic import SecretStr

from gateway.config.loading import load_settings
from gateway.config.outbound_proxy import OutboundProxies, check_no_proxy, check_proxy, outbound_proxies
from gateway.config.settings import SettingsError
from tests.conftest import vectors

CASES = vectors("settings/outbound_proxy")
PROXY = "http://proxy.test:3128"


def built(
    proxy: str | None = PROXY,
    credentials: str | None = None,
    no_proxy: tuple[str, ...] = (),
    **own: tuple[str | None, str | None],
) -> OutboundProxies:
    return outbound_proxies(proxy, SecretStr(credentials) if credentials else None, map(check_no_proxy, no_proxy), own)


def route(proxies: OutboundProxies, host: str = "far.test", upstream: str = "") -> str | None:
    found = proxies.route(host, 443, upstream)
    return found.url if found is not None else None


@pytest.mark.parametrize(("entry", "direct", "proxied"), CASES["no_proxy"])
def test_an_entry_of_no_proxy_exempts(entry: str, direct: list[str], proxied: list[str]) -> None:
    proxies = built(no_proxy=tuple(entry.split(",")) if entry else ())
    for expected, places in ((None, direct), (PROXY, proxied)):
        for place in places:
            host, _, port = place.rpartition("|")
            found = proxies.route(host or place, int(port) if host else 443)
            assert (found.url if found else None) == expected, place


@pytest.mark.parametrize("entry", CASES["not_entries"])
def test_what_is_no_entry_is_refused_and_not_repeated(entry: str) -> None:
    with pytest.raises(ValueError) as refused:
        check_no_proxy(entry)
    assert entry not in str(refused.value)


@pytest.mark.parametrize(("value", "url"), CASES["proxies"])
def test_a_proxy_is_named_by_its_url(value: str, url: str | None) -> None:
    if url is not None:
        assert route(built(check_proxy(value))) == url
        return
    with pytest.raises(ValueError) as refused:
        check_proxy(value)
    assert not value or "canary" not in str(refused.value)
    assert ("`upstream_proxy_credentials`" in str(refused.value)) == ("canary" in value)


def test_an_upstream_may_have_a_proxy_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "me:pw")
    own: dict[str, Any] = {
        "empty": ("", None),
        "direct": ("direct", None),
        "same": (PROXY, None),
        "other": ("https://other.test", "env:OTHER"),
    }
    proxies = built(credentials="user:p:w", **own)
    assert [route(proxies, upstream=name) for name in (*own, "unset", "")] == [
        *(None, None, PROXY, "https://other.test:443", PROXY, PROXY)
    ]
    sent = {each.url: each.authorization for each in proxies}
    assert sent == {PROXY: b"Basic dXNlcjpwOnc=", "https://other.test:443": b"Basic bWU6cHc="}
    assert proxies.at(("other.test", 443)) is proxies.route("far.test", 443, "other")
    assert "p:w" not in repr(list(proxies))


def test_a_connection_to_the_proxy_itself_is_not_taken_for_a_tunnel_through_it() -> None:
    assert built(no_proxy=("proxy.test",)).route("proxy.test", 3128) is not None
    assert built(no_proxy=("proxy.test",)).route("proxy.test", 80) is None


def test_the_environment_counts_on_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.test:3128")
    assert route(built(None)) is route(built("direct")) is None
    monkeypatch.setenv("https_proxy", "http://us%40er:p%3Aw@lower.test")
    monkeypatch.setenv("NO_PROXY", "localhost, .corp ,10.0.0.0/8,")
    proxies = built("environment", no_proxy=("mine.test",))
    assert route(proxies) == "http://lower.test:80"
    (proxy,) = proxies
    assert proxy.credentials is not None
    assert proxy.credentials.get_secret_value() == "us@er:p:w"
    assert [route(proxies, host) for host in ("a.corp", "10.1.1.1", "mine.test")] == [None] * 3
    (other,) = built("environment", "from:settings")
    assert other.credentials == SecretStr("from:settings")
    monkeypatch.delenv("https_proxy")
    assert route(built("environment")) == PROXY
    assert route(built("direct", of=("environment", None)), upstream="of") == PROXY
    monkeypatch.delenv("HTTPS_PROXY")
    assert route(built("environment", "not:needed")) is None


@pytest.mark.parametrize("case", CASES["problems"], ids=lambda case: case["says"])
def test_settings_that_do_not_fit_are_named(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"A_SECRET": "user:canary", "NO_COLON": "canary", **case.get("variables", {})}.items():
        monkeypatch.setenv(name, value)
    own = {"base_url": "https://x/v1", **case.get("upstream", {})}
    with pytest.raises(SettingsError) as refused:
        load_settings(upstreams={"a": own}, **case.get("settings", {})).check_upstreams()
    (problem,) = refused.value.problems
    assert problem.startswith(case["says"])
    assert "canary" not in problem


def test_credentials_of_an_upstream_may_be_in_a_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_PROXY_LOGIN", "user:pw")
    own = {"base_url": "https://x/v1", "proxy": PROXY, "proxy_credentials": "env:SVC_PROXY_LOGIN"}
    found = load_settings(upstreams={"a": own}).outbound_proxies.route("x", 443, "a")
    assert found is not None and found.authorization == b"Basic dXNlcjpwdw=="
