"""Every store guarantees order, durability and isolation, and says when it cannot."""

import asyncio
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.store import ConstraintViolation, Repositories, Store, StoreError
from gateway.store.rows import FactsRow, NewRecord, ReceiptFilter
from tests.gateway.store.conftest import Backend
from tests.gateway.store.support import Gate, add, names


async def test_others_see_a_write_once_it_is_committed(store: Store, other_store: Store) -> None:
    def work(stored: Repositories) -> tuple[list[str], list[str]]:
        add("a")(stored)
        return names(stored), other_store.read_now(names)

    assert await store.write(work) == (["a"], [])
    assert other_store.read_now(names) == ["a"]


async def test_a_read_sees_everything_submitted_before_it(store: Store) -> None:
    for number in range(20):
        store.submit(add(str(number)))
        assert len(await store.read(names)) == number + 1


async def test_work_that_fails_is_undone_alone(store: Store) -> None:
    def half(stored: Repositories) -> None:
        add("half")(stored)
        raise LookupError("not found")

    gate = Gate(store)
    results = [store.submit(work) for work in (add("canary"), half, add("canary"), add("b"))]
    gate.open()
    assert results[0].result() == "canary"
    with pytest.raises(LookupError):
        results[1].result()
    with pytest.raises(ConstraintViolation) as violated:
        results[2].result()
    assert "canary" not in str(violated.value)
    assert results[3].result() == "b"
    assert await store.read(names) == ["canary", "b"]


@pytest.mark.parametrize("end", [asyncio.CancelledError, StopIteration, SystemExit, KeyboardInterrupt])
async def test_work_that_is_ended_from_outside_takes_nothing_with_it(store: Store, end: type[BaseException]) -> None:
    def ended(stored: Repositories) -> None:
        add("lost")(stored)
        raise end

    gate = Gate(store)
    waiting = asyncio.gather(
        store.write(add("before")), store.write(ended), store.write(add("after")), return_exceptions=True
    )
    await asyncio.sleep(0)
    gate.open()
    before, error, after = await asyncio.wait_for(waiting, 10)
    assert (before, after) == ("before", "after")
    assert isinstance(error, RuntimeError)
    assert await store.read(names) == ["before", "after"]


async def test_waiting_writes_share_one_transaction(store: Store) -> None:
    commits: list[int] = []
    store.before_commit(lambda _: commits.append(1))
    gate = Gate(store)
    waiting = [asyncio.create_task(store.write(add(str(number)))) for number in range(50)]
    await asyncio.sleep(0)
    gate.open()
    assert await asyncio.gather(*waiting) == [str(number) for number in range(50)]
    # One for the lock, one for all the rest.
    assert len(commits) == 2


async def test_a_commit_that_fails_fails_all_of_its_batch_until_one_works(store: Store) -> None:
    broken = True

    def hook(stored: Repositories) -> None:
        if broken:
            raise OSError("disk I/O error at 'canary'")

    gate = Gate(store)
    store.before_commit(hook)
    store.check()
    first, second = store.submit(add("a")), asyncio.create_task(store.write(add("b")))
    await asyncio.sleep(0)
    gate.open()
    for failed in (asyncio.wrap_future(first), second):
        with pytest.raises(Unavailable) as refused:
            await failed
        assert refused.value.code == "store_unavailable"
        assert "canary" not in refused.value.message
    for _ in range(3):  # although nothing else writes in between
        with pytest.raises(Unavailable):
            store.check()
        await store.read(names)  # comes after whatever was tried
    broken = False
    with pytest.raises(Unavailable):
        store.check()
    await store.read(names)
    store.check()
    await store.write(add("c"))
    assert await store.read(names) == ["c"]


async def test_a_caller_who_stops_waiting_disturbs_no_other(store: Store) -> None:
    gate = Gate(store)
    first, second = asyncio.create_task(store.write(add("a"))), asyncio.create_task(store.write(add("b")))
    await asyncio.sleep(0)
    first.cancel()
    gate.open()
    assert await second == "b"
    assert first.cancelled()
    assert await store.read(names) == ["a", "b"]


async def test_a_read_keeps_to_one_snapshot(store: Store) -> None:
    loop = asyncio.get_running_loop()

    def twice(stored: Repositories) -> tuple[list[str], list[str]]:
        before = names(stored)
        asyncio.run_coroutine_threadsafe(store.write(add("meanwhile")), loop).result(10)
        return before, names(stored)

    assert await store.read(twice) == ([], [])
    assert await store.read(names) == ["meanwhile"]
    assert store.read_now(names) == ["meanwhile"]


async def test_closing_writes_what_is_queued_and_then_runs_its_hooks(backend: Backend, data_dir: Path) -> None:
    store = backend.open(data_dir)
    closed: list[int] = []
    results = [store.submit(add(str(number))) for number in range(1000)]
    store.on_close(lambda: closed.append(sum(result.done() for result in results)))
    store.close()
    assert closed == [1000]
    again = backend.open(data_dir)
    assert len(await again.read(names)) == 1000
    again.close()


async def test_a_closed_store_says_so(backend: Backend, data_dir: Path) -> None:
    store = backend.open(data_dir)
    store.close()
    for use in (lambda: store.submit(names), lambda: store.read_now(names)):
        with pytest.raises(Unavailable):
            use()
    for wait in (store.write(names), store.read(names)):
        with pytest.raises(Unavailable):
            await wait


async def test_transactions_run_one_after_another_across_processes(store: Store, other_store: Store) -> None:
    def append(stored: Repositories) -> int:
        _, last = stored.receipts.bounds() or (0, 0)
        stored.receipts.add([NewRecord(last + 1, "receipt", f"req_{last + 1}", "key", "{}", "", "")])
        return last + 1

    numbers = await asyncio.gather(*(each.write(append) for _ in range(20) for each in (store, other_store)))
    assert sorted(numbers) == list(range(1, 41))


async def test_hooks_run_around_every_transaction(store: Store) -> None:
    seen: list[str] = []
    store.before_commit(lambda _: seen.append("before commit"))
    store.after_commit(lambda: seen.append("after commit"))
    store.after_transaction(lambda: seen.append("after transaction"))
    await store.write(add("a"))
    assert seen == ["before commit", "after commit", "after transaction"]
    seen.clear()
    store.before_commit(_refuse)
    with pytest.raises(Unavailable):
        await store.write(add("b"))
    assert seen == ["before commit", "after transaction"]


async def test_collected_rows_are_written_before_the_commit(store: Store) -> None:
    collected: list[str] = []

    def write_collected(stored: Repositories) -> None:
        for name in collected:
            add(name)(stored)
        collected.clear()

    store.before_commit(write_collected)
    await asyncio.gather(*(store.write(lambda _, n=n: collected.append(n), collects=True) for n in ("a", "b", "c")))
    assert await store.read(names) == ["a", "b", "c"]


async def test_text_with_a_nul_fails_no_batch_and_is_looked_for(store: Store) -> None:
    facts = FactsRow(1, "key_1", "2026-01-01", "chat", "a", None, "m\0", None, "direct", "low", "{}", "{}", 5)
    await store.write(lambda stored: stored.receipts.add_facts([facts], []))
    for sought, found in (("m\0", {1}), ("m", set())):
        rows = ReceiptFilter(models=(sought,))
        assert await store.read(lambda stored, rows=rows: stored.receipts.matching([1], rows)) == found
    assert await store.read(lambda stored: (stored.sessions.find("\0"), stored.receipts.find("\0", None))) == (
        None,
        None,
    )


async def test_reading_cannot_write(store: Store) -> None:
    with pytest.raises(Unavailable):
        await store.read(add("a"))
    with pytest.raises(Unavailable):
        store.read_now(add("b"))
    assert await store.read(names) == []


async def test_a_read_only_store_sees_what_is_committed_and_cannot_write(
    backend: Backend, store: Store, data_dir: Path, tmp_path: Path
) -> None:
    with backend.open_read_only(data_dir) as look:
        await store.write(add("a"))
        assert look.read(names) == ["a"]
        with pytest.raises(Unavailable):
            look.read(add("b"))
        await store.write(add("c"))
        assert look.read(names) == ["a", "c"]
    with pytest.raises(StoreError), backend.open_read_only(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == [data_dir], "it makes none"  # noqa: ASYNC240


def _refuse(_: Repositories) -> None:
    raise OSError("no commit")
