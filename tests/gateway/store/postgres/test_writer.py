"""Nothing is reported as written that the server did not keep. A connection that broke before costs no request."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.config.database_url import Database
from gateway.errors import Unavailable
from gateway.store import Repositories, Store, open_store
from gateway.store.rows import NewRecord
from tests import postgres
from tests.gateway.store.support import Gate, add, names

writer = pytest.importorskip("gateway.store.postgres.writer")
statements = pytest.importorskip("gateway.store.postgres.statements")

OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"


def divide_by_zero(stored: Repositories) -> None:
    stored.keys._db.run("SELECT 1 / 0")  # type: ignore[attr-defined]


async def test_a_transaction_in_which_a_statement_failed_is_not_taken_for_committed(store: Store) -> None:
    """Collecting work has no savepoint, and PostgreSQL answers the commit without an error."""
    committed: list[int] = []
    store.after_commit(lambda: committed.append(1))
    gate = Gate(store)
    waiting = asyncio.gather(
        store.write(divide_by_zero, collects=True),
        store.write(lambda _: None, collects=True),
        return_exceptions=True,
    )
    await asyncio.sleep(0)
    gate.open()
    assert [type(result) for result in await waiting] == [Unavailable, Unavailable]
    assert committed == [1], "that of the gate"
    await store.write(add("after"))
    assert committed == [1, 1]


async def test_work_that_ends_the_transaction_is_not_taken_for_committed(store: Store) -> None:
    for end in ("COMMIT", "ROLLBACK"):
        with pytest.raises(Unavailable):
            await store.write(lambda stored, end=end: stored.keys._db.run(end), collects=True)
    await store.write(add("after"))
    assert await store.read(names) == ["after"]


async def test_the_records_of_a_batch_are_looked_up_in_one_round_trip(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, queries = statements.Statements.run, list[str]()

    def counted(self: object, query: str, parameters: Sequence[object] = ()) -> object:
        queries.append(query)
        return run(self, query, parameters)

    monkeypatch.setattr(statements.Statements, "run", counted)
    await store.write(lambda stored: stored.receipts.add([NewRecord(1, "receipt", "req_1", "key_1", "{}", "h", "")]))
    gate = Gate(store)
    ids = ["req_1", "req_2", "req_3"]
    waiting = asyncio.gather(
        *(store.write(lambda stored, id=id: stored.receipts.filed(id), collects=True, about=id) for id in ids)
    )
    await asyncio.sleep(0)
    gate.open()
    assert await waiting == [{"receipt": ("key_1", "h")}, {}, {}]
    assert sum("request_id = ANY" in query for query in queries) == 1


async def test_connections_that_broke_between_two_transactions_cost_no_request(
    store: Store, server: postgres.Server, name: str
) -> None:
    await store.write(add("before"))
    assert await store.read(names) == ["before"]
    server.sql(OTHERS.format(name))
    await store.write(add("after"))
    server.sql(OTHERS.format(name))
    assert await store.read(names) == store.read_now(names) == ["before", "after"]


async def test_a_connection_that_breaks_within_a_transaction_loses_its_batch(
    store: Store, server: postgres.Server, name: str
) -> None:
    def broken(stored: Repositories) -> None:
        add("lost")(stored)
        server.sql(OTHERS.format(name))

    with pytest.raises(Unavailable):
        await store.write(broken)
    await store.write(add("after"))
    assert await store.read(names) == ["after"]


async def test_a_server_that_is_gone_is_waited_for_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writer, "_PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(writer, "_IMPATIENCE_SECONDS", 0.0)
    await store.write(add("before"))
    attempts: list[int] = []

    def refuse(_: str) -> None:
        attempts.append(1)
        raise writer.psycopg.OperationalError("canary")

    store._writer._conn.close()  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(writer, "connect", refuse)
        for least in (2, 1):
            attempts.clear()
            with pytest.raises(Unavailable):
                await store.write(add("meanwhile"))
            assert len(attempts) >= least
        assert len(attempts) == 1
    with pytest.raises(Unavailable):
        store.check()
    await store.read(names)
    store.check()
    assert "canary" not in caplog.text


@pytest.mark.slow
def test_a_server_that_crashes_and_returns_has_every_receipt(tmp_path: Path) -> None:
    if (reason := postgres.missing()) is not None:
        pytest.skip(reason)
    folder = postgres.new_folder()
    server = postgres.start(folder)
    store = open_store(tmp_path, Database(server.url("postgres")))
    written = [store.submit(add(str(number))).result() for number in range(20)]
    server.stop(signal.SIGQUIT)
    # It recovers while the transaction waits for it.
    waiting = store.submit(add("meanwhile"))
    server = postgres.start(folder)
    try:
        waiting.result(60)
        assert store.read_now(names) == [*written, "meanwhile"]
    finally:
        store.close()
        server.stop(signal.SIGQUIT)
