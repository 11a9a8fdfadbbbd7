"""Keys that go into headers, from variables and files."""

from pathlib import Path

import pytest

from gateway.config.loading import load_settings
from gateway.config.settings import SettingsError

PRIVATE = "hunter" + "2"


def test_the_line_break_at_the_end_of_a_key_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SVC_UPSTREAM_KEY", "SVC_API_KEY", "MY_KEY"):
        monkeypatch.setenv(name, f"{PRIVATE * 3}\r\n")
    settings = load_settings(
        upstream="https://x/v1", upstreams={"a": {"base_url": "https://y/v1", "api_key_env": "MY_KEY"}}
    )
    keys = [settings.api_key, *map(settings.upstream_api_key, ("configured-upstream", "a"))]
    assert [key.get_secret_value() for key in keys if key] == [PRIVATE * 3] * 3


@pytest.mark.parametrize("key", [f"{PRIVATE}\nx-more: 1", f"{PRIVATE}\x7f", f"{PRIVATE}€"])
def test_a_key_that_no_header_can_hold_is_refused(key: str, tmp_path: Path) -> None:
    for name in ("upstream_key", "api_key"):
        with pytest.raises(SettingsError) as refused:
            load_settings(None, **{name: key})
        assert str(refused.value).startswith(f"{name}: a header cannot hold this key")
        assert PRIVATE not in str(refused.value)
    file = tmp_path / "key"
    file.write_text(f"{PRIVATE}{key}", encoding="utf-8", newline="")
    upstreams = {"a": {"base_url": "https://x/v1", "api_key": f"file:{file}"}}
    with pytest.raises(SettingsError) as refused:
        load_settings(upstreams=upstreams).check_upstreams()
    assert str(refused.value).startswith("upstreams.a.api_key: a header cannot hold this key")
    assert PRIVATE not in str(refused.value)
