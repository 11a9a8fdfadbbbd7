"""The repository of meters keeps its guarantees."""

from gateway.store import Store
from gateway.store.rows import LARGEST_NUMBER, MeterRow


async def add(store: Store, *meters: MeterRow) -> None:
    await store.write(lambda stored: stored.usage.add(meters))


async def totals(store: Store) -> list[tuple[str, str, int]]:
    return sorted(await store.read(lambda stored: stored.usage.totals()))


async def test_amounts_add_up_for_each_day_and_the_newest_days_come_in_order(store: Store) -> None:
    await add(store)
    assert await totals(store) == []
    rows = [
        MeterRow("2025-12-31", "routes", "local", 1),
        MeterRow("2026-01-01", "routes", "direct", 3),
        MeterRow("2026-01-01", "tokens", "input", 5),
        MeterRow("2026-01-02", "routes", "local", 1),
    ]
    await add(store, rows[3], rows[2], rows[1]._replace(amount=2))
    await add(store, rows[0], rows[1]._replace(amount=1))
    assert await totals(store) == [("routes", "direct", 3), ("routes", "local", 2), ("tokens", "input", 5)]
    assert await store.read(lambda stored: stored.usage.days(2)) == rows[1:]


async def test_an_amount_and_a_sum_stop_at_the_largest_number(store: Store) -> None:
    for day in ("2026-01-01", "2026-01-02"):
        await add(store, MeterRow(day, "tokens", "input", 2**63 - 1))
        await add(store, MeterRow(day, "tokens", "input", 1))
    assert {row.amount for row in await store.read(lambda stored: stored.usage.days(2))} == {LARGEST_NUMBER}
    assert await totals(store) == [("tokens", "input", LARGEST_NUMBER)]
