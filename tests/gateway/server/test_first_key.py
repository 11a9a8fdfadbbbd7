"""The first operator key is shown in one place, and before it exists."""

import sys
from pathlib import Path

import pytest

from gateway.auth.api_keys import KeyRing
from gateway.config.settings_file import SettingsError
from gateway.errors import Unavailable
from gateway.models import Scope
from gateway.server import first_key
from gateway.server.first_key import make_first_key
from gateway.store import Store


@pytest.fixture
def ring(store: Store) -> KeyRing:
    return KeyRing(store)


async def test_without_a_terminal_the_key_is_in_a_file_alone(
    ring: KeyRing, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    await make_first_key(ring, tmp_path, sys.stdout)
    path = tmp_path / "operator.key"
    key = path.read_text().rstrip("\n")
    assert ring.authenticate(key).scope is Scope.OPERATOR
    assert path.stat().st_mode & 0o777 == 0o600
    shown = capsys.readouterr()
    assert f"KEY=$(cat {path})" in shown.out
    assert key not in shown.out + shown.err + caplog.text


async def test_on_a_terminal_it_is_shown_once_and_in_no_file(
    ring: KeyRing, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_key, "on_terminal", lambda: True)
    await make_first_key(ring, tmp_path, sys.stdout)
    out = capsys.readouterr().out
    assert out.count("svck_") == 1
    key = out.partition("  KEY=")[2].strip()
    assert ring.authenticate(key).scope is Scope.OPERATOR
    assert not (tmp_path / "operator.key").exists()


async def test_a_key_that_cannot_be_shown_or_stored_is_made_by_the_next_start(
    ring: KeyRing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise Unavailable("The disk is full.")

    path = tmp_path / "operator.key"
    path.mkdir()
    with pytest.raises(SettingsError):
        await make_first_key(ring, tmp_path, sys.stdout)
    assert (ring.empty, await ring.list()) == (True, ())
    path.rmdir()
    with monkeypatch.context() as full:
        full.setattr(ring._store, "write", fail)
        with pytest.raises(Unavailable):
            await make_first_key(ring, tmp_path, sys.stdout)
    await make_first_key(ring, tmp_path, sys.stdout)
    assert ring.authenticate(path.read_text().rstrip("\n")).scope is Scope.OPERATOR
