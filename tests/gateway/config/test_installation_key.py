import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.config.installation_key import FILE, installation_key, replaced_key, rotate_installation_key
from gateway.config.loading import load_settings
from gateway.config.settings import Settings, SettingsError


def test_the_first_start_makes_a_key_that_stays(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    with ThreadPoolExecutor(8) as pool:
        (first,) = set(pool.map(lambda _: installation_key(settings), range(32)))
    assert len(first) == 32
    assert installation_key(Settings(data_dir=tmp_path / "other")) != first
    assert stat.S_IMODE((tmp_path / "data" / FILE).stat().st_mode) == 0o600
    assert [each.name for each in (tmp_path / "data").iterdir()] == [FILE]


def test_a_key_from_the_environment_wins_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_INSTALLATION_KEY", "k" * 32)
    assert installation_key(load_settings(data_dir=tmp_path)) == b"k" * 32
    assert not (tmp_path / FILE).exists()


def test_a_replaced_key_is_read_unless_the_settings_have_one(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    assert replaced_key(settings) is None
    first = installation_key(settings)
    rotate_installation_key(settings)
    assert first != replaced_key(settings) == (tmp_path / FILE).read_bytes()
    assert replaced_key(Settings(data_dir=tmp_path, installation_key=SecretStr("k" * 32))) is None
    (tmp_path / FILE).write_bytes(b"short")
    assert replaced_key(settings) is None


def test_a_damaged_key_is_refused_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"short")
    with pytest.raises(SettingsError, match=r"damaged"):
        installation_key(Settings(data_dir=tmp_path))
    assert (tmp_path / FILE).read_bytes() == b"short"
