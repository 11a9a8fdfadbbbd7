"""The URLs of the listeners, with and without a certificate."""

from pathlib import Path
from typing import Any, get_args

import pytest

from gateway.config.listener_addresses import ListenerName
from gateway.config.listener_urls import address_of, name_of, url_of
from gateway.config.loading import load_settings
from gateway.config.settings import Settings, SettingsError
from tests.certificates import write_certificate

PLAIN = ["http://127.0.0.2:1", "http://[::1]:1", "http://127.0.0.1:1", "http://127.0.0.3:1"]


@pytest.mark.parametrize(
    ("given", "urls"),
    [
        ({}, ["https://gateway.test:1"] * 4),
        ({"tls_listeners": ["web"]}, [*PLAIN[:2], "https://gateway.test:1", PLAIN[3]]),
        ({"tls_certificate": None, "tls_key": None}, PLAIN),
    ],
)
def test_a_url_has_the_scheme_and_the_name_of_the_certificate(
    given: dict[str, Any], urls: list[str], tmp_path: Path
) -> None:
    certificate, key = write_certificate(tmp_path, "gateway.test")
    values: dict[str, Any] = {"tls_certificate": certificate, "tls_key": key, "host": "127.0.0.2", "proxy_host": "::1"}
    values["operations_host"] = "127.0.0.3"
    settings = Settings(**values | given)
    assert [url_of(settings, name, 1) for name in get_args(ListenerName.__value__)] == urls
    assert address_of(settings, "proxy") == "::1"
    assert (
        url_of(settings, "web", "PORT", "a%2Fb", host="::2")
        .replace("[::2]", "gateway.test")
        .endswith("://key:a%2Fb@gateway.test:PORT")
    )
    assert name_of(settings, "web", "a.test") == ("gateway.test" if "tls_key" not in given else "a.test")


@pytest.mark.parametrize("name", ["tls_certificate", "tls_key"])
def test_a_certificate_needs_its_key(name: str) -> None:
    given: dict[str, Any] = {name: "file.pem"}
    with pytest.raises(SettingsError, match="set both or none"):
        load_settings(**given)
