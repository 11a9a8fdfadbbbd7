"""Every file that settings name is the gateway's own, wherever they name it."""

from pathlib import Path

import pytest

from gateway.config.loading import load_settings
from gateway.config.own_files import own_files

NAMED = ("ca", "key", "credentials", "token", "installation", "variable", "upstream")


@pytest.mark.parametrize("by_variable", [False, True])
def test_files_of_upstreams_and_of_secrets_are_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_variable: bool
) -> None:
    for name in (*NAMED, "policies", "other"):
        (tmp_path / name).write_text("k" * 40)
    (tmp_path / "credentials").write_text("user:password")
    config = tmp_path / "svc.toml"
    config.write_text(
        f"""
        installation_key = "file:{tmp_path}/installation"
        log_file = "{tmp_path}/missing"
        [upstreams.lab]
        base_url = "https://lab.test/v1"
        ca_file = "{tmp_path}/ca"
        api_key = "file:{tmp_path}/key"
        proxy = "http://proxy.test:3128"
        proxy_credentials = "file:{tmp_path}/credentials"
        [web_tokens]
        ann = "file:{tmp_path}/token"
        """
    )
    monkeypatch.setenv("SVC_API_KEY", f"file:{tmp_path}/variable")
    monkeypatch.setenv("SVC_UPSTREAMS__SECOND__BASE_URL", "https://second.test/v1")
    monkeypatch.setenv("SVC_UPSTREAMS__SECOND__API_KEY", f"file:{tmp_path}/upstream")
    if by_variable:
        monkeypatch.setenv("SVC_CONFIG", str(config))
    given = None if by_variable else config
    found = own_files(load_settings(given), given)
    assert {path.name for path in found if path.parent == tmp_path} == {*NAMED, "svc.toml"}
