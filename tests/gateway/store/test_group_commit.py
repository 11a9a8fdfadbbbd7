"""Writes that wait together share a transaction, and no more wait than the queue holds."""

import asyncio

import pytest

from gateway.errors import Unavailable
from gateway.store import Store, group_commit
from gateway.store.group_commit import SUBMIT_LIMIT, WRITE_LIMIT
from tests.gateway.store.support import Gate, add, names


@pytest.mark.slow
async def test_too_many_waiting_writes_are_refused_and_follow_ups_still_fit(store: Store) -> None:
    gate = Gate(store)
    results = [store.submit(add(str(number))) for number in range(WRITE_LIMIT)]
    with pytest.raises(Unavailable) as refused:
        await store.write(add("one too many"))
    assert refused.value.code == "overloaded"
    assert refused.value.retry_after
    results += [store.submit(add(str(number))) for number in range(WRITE_LIMIT, SUBMIT_LIMIT)]
    with pytest.raises(Unavailable):
        store.submit(add("one too many"))
    gate.open()
    assert [result.result() for result in results] == [str(number) for number in range(SUBMIT_LIMIT)]


async def test_writes_of_one_turn_of_the_event_loop_share_a_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "_PATIENCE_SECONDS", 60)
    await store.write(add("before"))
    transactions: list[None] = []
    store.after_transaction(lambda: transactions.append(None))
    await asyncio.gather(*(store.write(add(str(number))) for number in range(64)))
    assert len(transactions) == 1


def test_a_write_of_an_event_loop_that_ended_holds_up_no_other(store: Store) -> None:
    loop = asyncio.new_event_loop()
    abandoned = loop.create_task(store.write(add("abandoned")))
    loop.call_soon(loop.stop)
    loop.run_forever()
    store.submit(add("after")).result(60)
    assert store.read_now(names) == ["abandoned", "after"]
    loop.run_until_complete(abandoned)
    loop.close()
