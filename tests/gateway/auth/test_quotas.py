"""Quotas of keys, against a clock of the test's own."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.auth.quotas import Quotas
from gateway.errors import TooManyRequests, Unavailable
from gateway.models import Caller, Grant, Quota, Scope
from gateway.store import Store, open_store


class Clock:
    now = datetime(2026, 2, 27, 23, 59, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def caller(*quotas: Quota, key_id: str = "key_anna") -> Caller:
    return Caller(key_id, Scope.CLIENT, grant=Grant(quotas=quotas))


DAILY = caller(Quota("requests", 2, "day"))
MONTHLY = caller(Quota("characters", 100, "month"))


def refused(quotas: Quotas, who: Caller, *, requests: int = 0, characters: int = 0) -> int:
    with pytest.raises(TooManyRequests) as error:
        quotas.charge(who, requests=requests, characters=characters)
    assert error.value.code == "quota_exceeded"
    assert error.value.headers("req_1")["x-should-retry"] == "false"
    assert error.value.retry_after is not None
    return error.value.retry_after


def test_a_quota_is_used_up_until_its_day_ends(store: Store) -> None:
    clock = Clock()
    quotas = Quotas(store, clock=clock)
    quotas.charge(caller(), requests=1, characters=10)
    assert not quotas._used, "keys without quotas are not counted"
    for _ in range(2):
        quotas.charge(DAILY, requests=1)
    assert refused(quotas, DAILY, requests=1) == 30
    quotas.charge(caller(*DAILY.grant.quotas, key_id="key_bert"), requests=1)
    clock.now = datetime(2026, 2, 28, tzinfo=UTC)
    quotas.charge(DAILY, requests=1)
    clock.now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert refused(quotas, MONTHLY, characters=101) == 1, "the month ends with the year"


def test_a_request_that_does_not_fit_is_refused_and_does_not_count(store: Store) -> None:
    quotas = Quotas(store, clock=Clock())
    quotas.charge(MONTHLY, characters=60)
    assert refused(quotas, MONTHLY, characters=41) == 24 * 3600 + 30
    quotas.charge(MONTHLY, requests=1, characters=40)
    quotas.charge(MONTHLY, requests=1)
    assert refused(quotas, MONTHLY, characters=1) > 0


def test_a_request_beyond_one_quota_counts_against_none(store: Store) -> None:
    quotas = Quotas(store, clock=Clock())
    both = caller(Quota("requests", 1, "day"), Quota("requests", 5, "month"))
    quotas.charge(both, requests=1)
    for _ in range(9):
        refused(quotas, both, requests=1)
    quotas._clock = lambda: datetime(2026, 2, 28, tzinfo=UTC)
    quotas.charge(both, requests=1)


async def test_counts_outlive_a_restart(data_dir: Path) -> None:
    for _ in range(2):
        store = open_store(data_dir)
        quotas = Quotas(store, clock=Clock())
        quotas.charge(MONTHLY, characters=50)
        await quotas.write()
        store.close()
    store = open_store(data_dir)
    refused(Quotas(store, clock=Clock()), MONTHLY, characters=1)
    store.close()


async def test_processes_learn_of_each_other_when_they_write(store: Store) -> None:
    one, other = Quotas(store, clock=Clock()), Quotas(store, clock=Clock())
    for quotas in (one, other):
        quotas.charge(MONTHLY, characters=40)
    await one.write()
    await other.write()
    refused(other, MONTHLY, characters=21)
    one.charge(MONTHLY, characters=1)
    await one.write()
    refused(one, MONTHLY, characters=20)
    one.charge(MONTHLY, characters=19)


async def test_use_that_could_not_be_written_still_counts_and_is_written_later(data_dir: Path) -> None:
    store = open_store(data_dir)
    quotas = Quotas(store, clock=Clock())
    quotas.charge(MONTHLY, characters=60)
    store.close()
    with pytest.raises(Unavailable):
        await quotas.write()
    refused(quotas, MONTHLY, characters=41)
    quotas._store = open_store(data_dir)
    await quotas.write()
    assert quotas._store.read_now(lambda stored: stored.keys.used("key_anna", "2026-02")) == (0, 60)
    quotas._store.close()


async def test_past_months_are_forgotten(store: Store) -> None:
    clock = Clock()
    quotas = Quotas(store, clock=clock)
    quotas.charge(MONTHLY, characters=60)
    await quotas.write()
    clock.now = datetime(2026, 3, 1, tzinfo=UTC)
    quotas.charge(MONTHLY, characters=1)
    await quotas.write()
    assert store.read_now(lambda stored: stored.keys.used("key_anna", "2026-02")) == (0, 0)
    assert quotas._used.keys() == {("key_anna", "2026-03")}
