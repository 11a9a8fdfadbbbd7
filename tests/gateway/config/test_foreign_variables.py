"""A service called `svc-…` in the same namespace does not stop the gateway, nor change its settings."""

import logging

import pytest

from gateway.config.foreign_variables import EnvironmentSource, foreign_variables, log_foreign_variables
from gateway.config.loading import load_settings
from gateway.config.settings import Settings, SettingsError

HOST = "10.96.17.5"


def service(name: str, *ports: tuple[int, str]) -> dict[str, str]:
    """Returns what Kubernetes sets for a Service with these ports; the second one is named."""
    prefix, first = name.upper().replace("-", "_"), ports[0]
    found = {f"{prefix}_SERVICE_HOST": HOST, f"{prefix}_SERVICE_PORT": str(first[0])}
    found[f"{prefix}_PORT"] = f"{first[1]}://{HOST}:{first[0]}"
    for index, (port, protocol) in enumerate(ports):
        if index:
            found[f"{prefix}_SERVICE_PORT_ADMIN_HTTP"] = str(port)
        each = f"{prefix}_PORT_{port}_{protocol.upper()}"
        found |= {each: f"{protocol}://{HOST}:{port}", f"{each}_PROTO": protocol}
        found |= {f"{each}_PORT": str(port), f"{each}_ADDR": HOST}
    return found


SERVICES = {
    "another": service("svc-api", (80, "tcp"), (9090, "tcp")),
    "with the prefix alone": service("svc", (80, "tcp")),
    "named like the gateway": service("svc-gateway", (8000, "tcp"), (8443, "tcp")),
    "named like the proxy": service("svc-proxy", (8080, "tcp")),
    "named like mitmweb": service("svc-web", (8081, "tcp")),
    "named like a table": service("svc-upstreams", (80, "tcp")),
    "of other protocols": service("svc-dns", (53, "udp"), (132, "sctp")),
}


@pytest.mark.parametrize("case", SERVICES)
def test_a_service_neither_stops_the_start_nor_is_a_setting(
    case: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    variables = SERVICES[case]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert load_settings() == Settings()
    assert foreign_variables() == sorted(variables)
    with caplog.at_level(logging.INFO):
        log_foreign_variables()
    (record,) = caplog.records
    assert all(name in record.getMessage() for name in variables)
    assert HOST not in caplog.text
    assert "://" not in caplog.text


def test_settings_of_the_same_names_still_apply(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, port in (("SVC_GATEWAY_PORT", "1001"), ("svc_proxy_port", "1002")):
        monkeypatch.setenv(name, port)
    monkeypatch.setenv("SVC_UPSTREAMS__MY_SERVICE_PORT_A__BASE_URL", "https://model.example/v1")
    settings = load_settings()
    assert (settings.gateway_port, settings.proxy_port) == (1001, 1002)
    assert list(settings.upstreams) == ["my_service_port_a"]
    assert foreign_variables() == []
    with caplog.at_level(logging.INFO):
        log_foreign_variables()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SVC_GATEWAY_PORT", "http://10.0.0.1:80"),
        ("SVC_GATEWAY_PORT", "eight"),
        ("SVC_API_PORT", "8000"),
        ("SVC_API_HOST", HOST),
        ("SVC_API_PORT_80", "tcp://10.0.0.1:80"),
        ("SVC_API_PORT_80_TCP_ADDRESS", HOST),
        ("SVC_SERVICE_HOSTS", HOST),
        ("SVC_GATEWAY_PORT_HTTP", "80"),
        ("SVC_UPSTREAMS__A_SERVICE_HOST", HOST),
    ],
)
def test_everything_else_still_stops_the_start(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert value not in str(refused.value)


def test_no_setting_is_named_like_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the names that end in PORT may be those of settings, as their values tell them apart."""
    for name in Settings.model_fields:
        monkeypatch.setenv(f"SVC_{name.upper()}", "1")
    assert foreign_variables() == []
    assert len(EnvironmentSource(Settings).env_vars) >= len(Settings.model_fields)
