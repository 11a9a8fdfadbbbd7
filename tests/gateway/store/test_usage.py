"""The repository of meters keeps its guarantees."""

from gateway.store import Store
from gateway.store.rows import LARGEST_NUMBER, EndRow, FactsRow, MeterRow, NewRecord, ReceiptFilter


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


async def test_the_receipts_sought_are_counted_as_the_meters_count_all(store: Store) -> None:
    first = FactsRow(
        1, "key_1", "2026-01-01T10:00:00Z", "chat", "a", None, None, None, "direct", "low", '{"AGE":2}', "{}", 5
    )
    second = first._replace(sequence=2, created_at="2026-01-02T00:00:00.000Z", types='{"AGE":3,"URL":1}')
    rest = first._replace(sequence=3, policy="b", tokens_input=LARGEST_NUMBER)
    await store.write(lambda stored: stored.receipts.add([NewRecord(1, "receipt", "req_1", "key_1", "", "", "")]))
    end = EndRow("req_1", "refused", "conflict", 9, 0, 2)
    await store.write(lambda stored: stored.receipts.add_facts([first, second, rest, rest._replace(sequence=4)], [end]))
    of_a, of_b = ReceiptFilter(policies=("a",)), ReceiptFilter(policies=("b",))
    names = ("operations", "chat"), ("outcomes", "refused"), ("refusals", "conflict"), ("risk_levels", "low")
    totals = await store.read(lambda stored: stored.usage.totals_of(of_a))
    assert sorted(totals) == sorted(
        [
            *((*name, 1 if name[0] in ("outcomes", "refusals") else 2) for name in (*names, ("routes", "direct"))),
            *(("tokens", name, amount) for name, amount in (("input", 10), ("external", 9), ("reported_output", 2))),
            *(("entities", name, amount) for name, amount in (("AGE", 5), ("URL", 1))),
        ]
    )
    days = await store.read(lambda stored: stored.usage.days_of(of_a, 31))
    assert [(row.day, row.name, row.amount) for row in days if row.amount] == [
        *(("2026-01-01", name, amount) for name, amount in (("all", 1), ("input", 5), ("external", 9))),
        ("2026-01-01", "reported_output", 2),
        *(("2026-01-02", name, amount) for name, amount in (("all", 1), ("input", 5))),
    ]
    assert {row.day for row in await store.read(lambda stored: stored.usage.days_of(of_a, 1))} == {"2026-01-02"}
    assert ("tokens", "input", LARGEST_NUMBER) in await store.read(lambda stored: stored.usage.totals_of(of_b))


async def test_a_meter_has_its_names(store: Store) -> None:
    rows = [MeterRow("2026-01-01", "entities", "AGE", 1), MeterRow("2026-01-02", "entities", "AGE", 1)]
    await add(store, *rows, MeterRow("2026-01-01", "routes", "direct", 3))
    assert await store.read(lambda stored: stored.usage.names("entities")) == {"AGE"}
    assert await store.read(lambda stored: stored.usage.names("refusals")) == set()


async def test_an_amount_and_a_sum_stop_at_the_largest_number(store: Store) -> None:
    for day in ("2026-01-01", "2026-01-02"):
        await add(store, MeterRow(day, "tokens", "input", 2**63 - 1))
        await add(store, MeterRow(day, "tokens", "input", 1))
    assert {row.amount for row in await store.read(lambda stored: stored.usage.days(2))} == {LARGEST_NUMBER}
    assert await totals(store) == [("tokens", "input", LARGEST_NUMBER)]
