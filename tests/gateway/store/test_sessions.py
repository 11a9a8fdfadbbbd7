"""The repository of vault sessions keeps its guarantees."""

import pytest

from gateway.store import ConstraintViolation, Repositories, Store
from gateway.store.rows import SealedRow, SessionRow


def session(session_id: str = "vs_1", expires_at: float = 100.5) -> SessionRow:
    return SessionRow(session_id, bytes(range(32)), "key_1", expires_at, max_values=10)


async def fill(store: Store, *rows: int, session_id: str = "vs_1", expires_at: float = 100.5) -> None:
    def work(stored: Repositories) -> None:
        stored.sessions.add(session(session_id, expires_at))
        for row in rows:
            stored.sessions.append(session_id, SealedRow(row, bytes([row])), values=2)

    await store.write(work)


async def test_a_session_comes_back_as_it_was_added(store: Store) -> None:
    await fill(store)
    assert await store.read(lambda stored: stored.sessions.find("vs_1")) == session()
    for unknown in ("vs_2", ""):
        assert await store.read(lambda stored, asked=unknown: stored.sessions.find(asked)) is None
    with pytest.raises(ConstraintViolation):
        await fill(store)


async def test_sealed_rows_come_in_order_from_the_first_one_asked_for_and_are_counted(store: Store) -> None:
    await fill(store, 2, 0, 1)
    await fill(store, 0, session_id="vs_2")
    rows = [SealedRow(number, bytes([number])) for number in range(3)]
    assert await store.read(lambda stored: stored.sessions.sealed("vs_1")) == rows
    assert await store.read(lambda stored: stored.sessions.sealed("vs_1", 1)) == rows[1:]
    assert await store.read(lambda stored: stored.sessions.sealed("vs_1", 3)) == []
    found = await store.read(lambda stored: stored.sessions.find("vs_1"))
    assert found is not None
    assert (found.rows, found.held) == (3, 6)


@pytest.mark.parametrize(("session_id", "row"), [("vs_1", 0), ("vs_2", 0)], ids=["number taken", "no session"])
async def test_a_row_has_a_number_of_its_own_in_a_session_that_exists(store: Store, session_id: str, row: int) -> None:
    await fill(store, 0)
    with pytest.raises(ConstraintViolation):
        await store.write(lambda stored: stored.sessions.append(session_id, SealedRow(row, b"other"), values=1))
    assert await store.read(lambda stored: stored.sessions.sealed("vs_1")) == [SealedRow(0, b"\x00")]
    found = await store.read(lambda stored: stored.sessions.find("vs_1"))
    assert found is not None
    assert (found.rows, found.held) == (1, 2)


async def test_expired_sessions_are_emptied_once_within_the_limit_and_then_deleted(store: Store) -> None:
    for number, expires_at in enumerate((1.0, 2.0, 2.5, 3.0)):
        await fill(store, 0, session_id=f"vs_{number}", expires_at=expires_at)
    assert await store.write(lambda stored: stored.sessions.delete_emptied(9.0, 10)) == 0
    emptied = [await store.write(lambda stored: stored.sessions.empty_expired(2.5, 2)) for _ in range(3)]
    assert emptied == [2, 1, 0]
    left = await store.read(lambda stored: [len(stored.sessions.sealed(f"vs_{number}")) for number in range(4)])
    assert left == [0, 0, 0, 1]
    deleted = [await store.write(lambda stored, end=end: stored.sessions.delete_emptied(end, 10)) for end in (1.0, 9.0)]
    there = await store.read(lambda stored: [stored.sessions.find(f"vs_{number}") is not None for number in range(4)])
    assert (deleted, there) == ([1, 2], [False, False, False, True])


async def test_rows_are_replaced_together_with_the_end_and_deleted(store: Store) -> None:
    await fill(store, 0, 1)
    await fill(store, 0, session_id="vs_2")
    rows = [SealedRow(0, b"new"), SealedRow(1, b"newer")]
    await store.write(lambda stored: stored.sessions.replace("vs_1", 200.5, rows))
    assert await store.read(lambda stored: stored.sessions.sealed("vs_1")) == rows
    ends = await store.read(lambda stored: [stored.sessions.find(id) for id in ("vs_1", "vs_2")])
    assert [row.expires_at for row in ends if row is not None] == [200.5, 100.5]
    for _ in range(2):
        await store.write(lambda stored: stored.sessions.delete("vs_1"))
    assert await store.read(lambda stored: (stored.sessions.find("vs_1"), stored.sessions.sealed("vs_1"))) == (None, [])
    assert await store.read(lambda stored: stored.sessions.sealed("vs_2")) == [SealedRow(0, b"\x00")]


async def test_noted_time_never_goes_back(store: Store) -> None:
    assert await store.read(lambda stored: stored.sessions.latest_time()) == 0
    for now, latest in ((5.5, 5.5), (3.0, 5.5), (7.0, 7.0)):
        await store.write(lambda stored, now=now: stored.sessions.note_time(now))
        assert await store.read(lambda stored: stored.sessions.latest_time()) == latest
