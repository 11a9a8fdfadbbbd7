"""mitmweb's token is shown on a terminal, and otherwise in a file alone."""

from pathlib import Path

import pytest

from addons import mitmweb_address
from addons.mitmweb_address import shown_address
from gateway.config.settings import SettingsError

URL = "http://127.0.0.1:8081/?token=" + "0a" * 16


def test_on_a_terminal_the_address_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mitmweb_address, "on_terminal", lambda: True)
    with shown_address(URL, tmp_path) as shown:
        assert shown == URL
        assert list(tmp_path.iterdir()) == []


def test_otherwise_it_is_in_a_file_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "mitmweb.url"
    path.write_text("of a start that crashed")
    path.chmod(0o644)
    with shown_address(URL, tmp_path) as shown:
        assert path.read_text() == URL + "\n"
        assert path.stat().st_mode & 0o777 == 0o600
        assert shown == f"http://127.0.0.1:8081/  (its address with the token: cat {path})"
    assert list(tmp_path.iterdir()) == []


def test_a_gateway_removes_only_its_own(tmp_path: Path) -> None:
    other = URL.replace("8081", "9081")
    with shown_address(URL, tmp_path):
        (tmp_path / "mitmweb.url").write_text(other)
    assert (tmp_path / "mitmweb.url").read_text() == other
    with shown_address(URL, tmp_path):
        (tmp_path / "mitmweb.url").unlink()


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mitmweb.url").mkdir()
    with pytest.raises(SettingsError) as refused, shown_address(URL, tmp_path):
        pass
    assert "token" not in str(refused.value)
