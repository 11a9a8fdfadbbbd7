"""Checks before the first listener opens; tests/e2e/test_start_errors.py sees it as a person does."""

import socket
from pathlib import Path

import pytest
from mitmproxy import exceptions

from addons.master import build_master
from addons.preflight import explained, prepared, refused_by_mitmproxy
from gateway.config.listener_addresses import exposures
from gateway.config.loading import load_settings
from gateway.config.settings import Settings, SettingsError
from gateway.errors import NotFound, Unavailable, Unprocessable
from tests.certificates import write_certificate
from tests.conftest import vectors


def settings(folder: Path, **given: object) -> Settings:
    values = {"gateway_port": 0, "proxy_port": 0, "web_port": 0, "data_dir": folder / "d", "certs_dir": folder / "c"}
    return Settings(**(values | given))  # type: ignore[arg-type]


def test_every_zero_becomes_a_port_of_its_own_and_the_folder_is_its_owners(tmp_path: Path) -> None:
    found = prepared(settings(tmp_path))
    ports = {found.gateway_port, found.proxy_port, found.web_port}
    assert len(ports) == 3
    assert 0 not in ports
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "d").iterdir()) == []


def test_a_number_that_was_given_stays_next_to_an_upstream_at_another_address(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    other = {"base_url": f"http://127.0.0.9:{port}/v1"}
    found = prepared(settings(tmp_path, gateway_port=port, web=False, upstreams={"other": other}))
    assert found.gateway_port == port


def test_a_listener_that_is_switched_off_has_no_risk_and_no_port(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for name in ("web", "proxy"):
            assert prepared(settings(tmp_path, **{name: False, f"{name}_host": "0.0.0.0", f"{name}_port": port}))
        with pytest.raises(SettingsError, match=f"web_port: port {port} is in use"):
            prepared(settings(tmp_path, web_port=port))


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "127.0.0.1"])
def test_a_host_may_have_several_addresses_or_mean_all(host: str, tmp_path: Path) -> None:
    accepted = ["plain_http", "open_proxy", "public_demo"]
    assert prepared(settings(tmp_path, host=host, accept_risks=accepted)).gateway_port


EXPOSED = vectors("start/exposed_listeners")


@pytest.mark.parametrize("name", EXPOSED)
def test_a_listener_beyond_this_machine_has_to_be_accepted(name: str, tmp_path: Path) -> None:
    given, risks, places = EXPOSED[name]
    with pytest.raises(SettingsError) as refused:
        prepared(settings(tmp_path, **given))
    assert [problem.partition(":")[0] for problem in refused.value.problems] == places
    for problem, risk in zip(refused.value.problems, risks, strict=True):
        assert f"add `{risk}` to the setting `accept_risks`" in problem
    for missing in risks:
        others = [risk for risk in risks if risk != missing]
        with pytest.raises(SettingsError, match=missing):
            prepared(settings(tmp_path, **given, accept_risks=others))
    if name != "a name":
        assert prepared(settings(tmp_path, **given, accept_risks=risks))


@pytest.mark.parametrize("name", [name for name in EXPOSED if name != "a name"])
def test_a_certificate_leaves_only_the_risks_that_tls_does_not_remove(name: str, tmp_path: Path) -> None:
    given, risks, _ = EXPOSED[name]
    # SOCKS5 is not inside TLS.
    left = [risk for risk in risks if risk != "plain_http" or "modes" in given]
    tls = dict(zip(("tls_certificate", "tls_key"), write_certificate(tmp_path / "tls"), strict=True))
    assert prepared(settings(tmp_path, **given, **tls, accept_risks=left))
    for missing in left:
        with pytest.raises(SettingsError, match=missing):
            prepared(settings(tmp_path, **given, **tls, accept_risks=[risk for risk in left if risk != missing]))


@pytest.mark.parametrize(
    ("mode", "others", "accepted"),
    [
        ("regular@0.0.0.0:0", {}, True),
        ("upstream:http://a.test:1@0.0.0.0:0", {}, True),
        ("reverse:http://a.test@0.0.0.0:0", {}, False),
        ("regular@0.0.0.0:0", {"tls_listeners": ["gateway", "web"]}, False),
    ],
)
def test_modes_of_the_proxys_kind_have_its_certificate(
    mode: str, others: dict[str, list[str]], accepted: bool, tmp_path: Path
) -> None:
    tls = dict(zip(("tls_certificate", "tls_key"), write_certificate(tmp_path / "tls"), strict=True))
    given = settings(tmp_path, proxy_key=True, modes=[mode], **tls, **others)
    if accepted:
        assert prepared(given).modes == (mode,)
    else:
        with pytest.raises(SettingsError, match=r"modes, entry 1: .*`plain_http`"):
            prepared(given)


def test_all_that_is_wrong_with_a_certificate_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        prepared(settings(tmp_path, tls_certificate=tmp_path / "a", tls_key=tmp_path / "b"))
    assert [problem.partition(":")[0] for problem in refused.value.problems] == ["tls_certificate", "tls_key"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_this_machine_alone_has_no_risk_to_accept(host: str) -> None:
    assert list(exposures("host", host, ("plain_http", "open_proxy"), ())) == []


@pytest.mark.parametrize(
    "mode", ["transparent", "wireguard", "dns@127.0.0.1:0", "tun", "reverse:tcp://a.test:1@127.0.0.1:0"]
)
def test_a_mode_that_cannot_ask_for_a_key_is_refused_with_one(mode: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="modes: entry 2 cannot ask clients for a key"):
        prepared(settings(tmp_path, proxy_key=True, modes=["local:some-program", mode]))


@pytest.mark.parametrize(
    ("modes", "key"),
    [
        (["regular@0", "socks5@127.0.0.1:0", "upstream:http://a.test:1@127.0.0.1:0", "reverse:http://a.test@0"], True),
        (["local"], True),
        (["local:some-program"], False),
        (["socks5@127.0.0.1:0"], False),
        (["dns@127.0.0.1:0", "wireguard@0"], False),
    ],
)
def test_modes_with_and_without_ports_and_keys(modes: list[str], key: bool, tmp_path: Path) -> None:
    risks = ["plain_http"] * key
    assert prepared(settings(tmp_path, proxy_key=key, modes=modes, accept_risks=risks)).modes == tuple(modes)


@pytest.mark.parametrize("listener", ["gateway_port", "proxy_port", "web_port"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_an_upstream_that_is_one_of_our_listeners_is_refused(listener: str, host: str, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    loop = {"base_url": f"http://{host}:{port}/v1"}
    with pytest.raises(SettingsError, match=r"^upstreams\.loop: its address is one of the gateway's own listeners"):
        prepared(settings(tmp_path, **{listener: port}, upstreams={"loop": loop}))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (NotFound("There is no such policy.", code="policy_not_found"), "default_policy: there is no such policy; "),
        (Unprocessable("a.toml: what is wrong."), "policies_dir: a.toml: what is wrong."),
        (Unavailable("The store does not answer."), "The store does not answer."),
    ],
)
def test_a_refusal_by_a_part_is_a_line_about_a_setting(error: NotFound, line: str) -> None:
    assert str(explained(error)).startswith(line)


async def test_the_cause_of_a_refusal_by_mitmproxy_is_reported(tmp_path: Path) -> None:
    with pytest.raises(exceptions.OptionsError) as refused:
        build_master(load_settings(None, certs_dir=tmp_path, gateway_port=0, proxy_port=0, web=False), [])
    told = str(refused_by_mitmproxy(refused.value))
    assert "Cannot spawn multiple servers on the same address" in told
    assert "is fixed" not in told
