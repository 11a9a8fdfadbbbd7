"""Readers find another connection, and copies are left to the server's own tools."""

from pathlib import Path

import pytest

from gateway.config.database_url import Database
from gateway.errors import Unavailable
from gateway.store import Repositories, Store, open_read_only
from tests.gateway.store.support import add, names

readers = pytest.importorskip("gateway.store.postgres.readers")


async def test_a_read_that_fails_says_what_and_no_value(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    def fails(stored: Repositories) -> None:
        stored.keys._db.run("SELECT 'canary'::int")  # type: ignore[attr-defined]

    for _ in range(2):
        with pytest.raises(Unavailable) as refused:
            await store.read(fails)
        assert "canary" not in refused.value.message
    assert caplog.messages == ["the store could not be read: InvalidTextRepresentation (22P02)"]
    await store.write(add("a"))
    assert await store.read(names) == ["a"]


def test_a_copy_is_made_with_other_tools(store: Store, database: Database, tmp_path: Path) -> None:
    with open_read_only(tmp_path, database) as look, pytest.raises(Unavailable, match="pg_dump"):
        look.copy_to(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


async def test_a_server_that_is_away_is_waited_for_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.read_now(names) == []
    pool, waited = store._readers._pool, list[float]()  # type: ignore[attr-defined]

    def away(seconds: float) -> None:
        waited.append(seconds)
        raise readers.PoolTimeout("canary")

    with monkeypatch.context() as patched:
        patched.setattr(pool, "connection", away)
        for _ in range(2):
            with pytest.raises(Unavailable):
                store.read_now(names)
    assert waited == [readers.CONNECT_SECONDS, readers._IMPATIENCE_SECONDS]
    assert store.read_now(names) == []
    assert not store._readers._is_away  # type: ignore[attr-defined]
