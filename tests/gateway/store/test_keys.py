"""The repository of keys keeps its guarantees."""

from typing import Any

import pytest

from gateway.store import ConstraintViolation, Store
from gateway.store.rows import (
    LARGEST_NUMBER,
    EndRow,
    FactsRow,
    KeyCallRow,
    KeyUseRow,
    NewRecord,
    PreviousSecretRow,
    ReceiptFilter,
)
from tests.gateway.store.support import add, key, names

LATER = "2026-01-02T03:04:06+00:00"


async def test_keys_are_listed_as_they_were_oldest_first_and_then_as_they_were_added(store: Store) -> None:
    rows = [
        key("b", created_at=LATER),
        key("z", label="é 😀", scope="operator", secret_hash=bytes(range(32))),
        key("a"),
    ]
    for row in rows:
        await store.write(lambda stored, row=row: stored.keys.add(row))
    listed = [*rows[1:], rows[0]]
    assert await store.read(lambda stored: stored.keys.all()) == listed
    assert sorted(await store.read(lambda stored: stored.keys.active())) == sorted(listed)


@pytest.mark.parametrize("clash", [{"key_id": "a"}, {"secret_hash": b"a"}], ids=["id", "hash"])
async def test_ids_and_hashes_are_unique(store: Store, clash: dict[str, object]) -> None:
    await store.write(add("a"))
    revision = await store.read(lambda stored: stored.keys.revision())
    with pytest.raises(ConstraintViolation):
        await store.write(lambda stored: stored.keys.add(key("b", **clash)))
    assert await store.read(names) == ["a"]
    assert await store.read(lambda stored: stored.keys.revision()) == revision


async def test_a_revoked_key_is_kept_with_the_first_time_and_is_not_active(store: Store) -> None:
    await store.write(add("a"))
    await store.write(add("b"))
    revoked = await store.write(lambda stored: stored.keys.revoke("a", LATER))
    assert revoked == key("a", revoked_at=LATER)
    assert await store.write(lambda stored: stored.keys.revoke("a", "2027-01-01T00:00:00+00:00")) == revoked
    assert await store.read(lambda stored: stored.keys.all()) == [revoked, key("b")]
    assert await store.write(lambda stored: stored.keys.revoke("B", LATER)) is None
    assert await store.read(lambda stored: stored.keys.active()) == [key("b")]


async def test_the_revision_grows_with_every_change_and_others_see_it(store: Store, other_store: Store) -> None:
    def revision() -> int:
        return other_store.read_now(lambda stored: stored.keys.revision())

    seen = [revision()]
    for work in (add("a"), add("b"), lambda stored: stored.keys.revoke("a", LATER)):
        await store.write(work)
        seen.append(revision())
    assert seen == sorted(set(seen))


async def test_the_use_of_keys_adds_up_by_period(store: Store) -> None:
    rows = [KeyUseRow("a", "2026-02", 1, 10), KeyUseRow("a", "2026-02-27", 1, 10), KeyUseRow("b", "2026-01", 1, 1)]
    revision = await store.read(lambda stored: stored.keys.revision())
    for _ in range(2):
        await store.write(lambda stored: stored.keys.count_use(rows, "2026-01"))
    await store.write(lambda stored: stored.keys.count_use([rows[0]._replace(characters=LARGEST_NUMBER)], "2026-02"))
    used = [("a", "2026-02"), ("a", "2026-02-27"), ("b", "2026-01"), ("c", "2026-02")]
    counted = await store.read(lambda stored: [stored.keys.used(*each) for each in used])
    assert counted == [(3, LARGEST_NUMBER), (2, 20), (0, 0), (0, 0)]
    assert await store.read(lambda stored: stored.keys.revision()) == revision


async def test_a_rotated_key_has_another_secret_and_lists_the_previous_one(store: Store) -> None:
    for work in (add("a"), add("b"), lambda stored: stored.keys.revoke("b", LATER)):
        await store.write(work)
    revision = await store.read(lambda stored: stored.keys.revision())
    rotated = await store.write(lambda stored: stored.keys.rotate("a", b"2", LATER, "2026-01-03", "2027-01-01"))
    assert rotated == key("a", secret_hash=b"2", expires_at="2027-01-01")
    assert await store.read(lambda stored: stored.keys.previous()) == [PreviousSecretRow(b"a", "a", "2026-01-03")]
    assert await store.read(lambda stored: stored.keys.revision()) > revision
    for unknown in ("b", "c"):
        assert (
            await store.write(lambda stored, id=unknown: stored.keys.rotate(id, b"3", LATER, "2026-01-03", None))
            is None
        )
    await store.write(lambda stored: stored.keys.rotate("a", b"4", "2026-01-03", "2026-01-04", None))
    assert await store.read(lambda stored: stored.keys.previous()) == [PreviousSecretRow(b"2", "a", "2026-01-04")]
    await store.write(lambda stored: stored.keys.revoke("a", LATER))
    assert await store.read(lambda stored: stored.keys.previous()) == []


async def test_calls_add_up_and_come_newest_first_with_the_label(store: Store) -> None:
    await store.write(add("a"))
    rows = [
        KeyCallRow(minute, key_id, "protect", "answered", 2)
        for minute in ("2026-01-02T03:04Z", "2026-01-02T03:05Z")
        for key_id in ("a", "")
    ]
    revision = await store.read(lambda stored: stored.keys.revision())
    for _ in range(2):
        await store.write(lambda stored: stored.keys.count_calls(rows))
    await store.write(lambda stored: stored.keys.count_calls([]))
    await store.write(lambda stored: stored.keys.count_calls([rows[0]._replace(amount=LARGEST_NUMBER)]))
    page, total = await store.read(lambda stored: stored.keys.calls(3, 0))
    assert (total, [(row.minute[-3:-1], row.key_id, row.amount, label) for row, label in page]) == (
        4,
        [("05", "", 4, None), ("05", "a", 4, "a label"), ("04", "", 4, None)],
    )
    last, _ = await store.read(lambda stored: stored.keys.calls(3, 3))
    assert [row.amount for row, _ in last] == [LARGEST_NUMBER]
    assert await store.read(lambda stored: stored.keys.revision()) == revision


@pytest.mark.parametrize(
    ("sought", "calls", "found"),
    [
        ({}, (), [4, 3, 2, 1]),
        ({"keys": ("a label",)}, (), [4, 1]),
        ({"keys": ("key_b", "cred_a")}, (), [3, 2]),
        ({"since": "2026-01-02T03:05:30.000Z"}, (), [4, 3, 2]),
        ({"until": "2026-01-02T03:05:00.000Z"}, (), [1]),
        ({"until": "2026-01-02T03:05:00.001Z", "outcomes": ("refused",)}, (), [3]),
        ({"outcomes": ("answered", "failed")}, (), [4, 1]),
        ({}, ("chat", "usage"), [4, 3]),
    ],
)
async def test_calls_that_are_sought(
    store: Store, sought: dict[str, Any], calls: tuple[str, ...], found: list[int]
) -> None:
    rows = [
        KeyCallRow("2026-01-02T03:04Z", "key_a", "protect", "answered", 1),
        KeyCallRow("2026-01-02T03:05Z", "proxy_1", "other", "forwarded", 2, "cred_a"),
        KeyCallRow("2026-01-02T03:05Z", "key_b", "chat", "conflict", 3),
        KeyCallRow("2026-01-02T03:06Z", "key_a", "usage", "answered", 4),
    ]
    await store.write(lambda stored: stored.keys.add(key("key_a")))
    await store.write(lambda stored: stored.keys.count_calls(rows))
    rest = (ReceiptFilter(**sought), calls, ("answered", "forwarded"))
    page, total = await store.read(lambda stored: stored.keys.calls(2, 1, *rest))
    assert ([row.amount for row, _ in page], total) == (found[1:3], len(found))


async def test_calls_are_read_from_receipts(store: Store) -> None:
    def facts(sequence: int, wire: str | None, **changes: Any) -> FactsRow:
        time = "2026-01-02T03:04:05.678Z"
        row = FactsRow(sequence, "key_a", time, "chat", "a", wire, None, None, "direct", "low", "{}", "{}", 0)
        return row._replace(**changes)

    rows = [
        *(facts(1, "gemini"), facts(2, "gemini"), facts(3, "gemini"), facts(4, None, operation="protect")),
        *(facts(5, "gemini", credential="cred_a"), facts(6, "gemini", policy="b")),
    ]
    receipts = [NewRecord(row.sequence, "receipt", f"req_{row.sequence}", "key_a", "", "", "") for row in rows]
    ends = [EndRow("req_1", "refused", "conflict", 0, 0, 0), EndRow("req_2", "refused", "conflict", 0, 0, 0)]
    await store.write(lambda stored: stored.keys.add(key("key_a")))
    await store.write(lambda stored: (stored.receipts.add(receipts), stored.receipts.add_facts(rows, ends)))
    page, total = await store.read(lambda stored: stored.keys.calls_with_receipts(9, 0, ReceiptFilter(policies=("a",))))
    entry = KeyCallRow("2026-01-02T03:04Z", "key_a", "gemini", "conflict", 2, "", "req_2")
    expected = [
        entry,
        entry._replace(outcome="open", amount=1, request_id="req_3"),
        entry._replace(call="protect", outcome="answered", amount=1, request_id="req_4"),
        entry._replace(outcome="open", amount=1, credential="cred_a", request_id="req_5"),
    ]
    assert (page, total) == ([(row, "a label") for row in expected], 4)
    page, total = await store.read(lambda stored: stored.keys.calls_with_receipts(1, 3, ReceiptFilter()))
    assert ([row.credential for row, _ in page], total) == (["cred_a"], 4)


async def test_calls_are_forgotten_by_age_and_by_number(store: Store) -> None:
    rows = [KeyCallRow(f"2026-01-02T03:0{minute}Z", "a", "protect", "answered", 1) for minute in range(6)]
    await store.write(lambda stored: stored.keys.count_calls(rows))
    for before, most, left in (("", 9, 6), ("2026-01-02T03:02Z", 9, 4), ("", 4, 4), ("", 3, 3), ("", 1, 1)):
        await store.write(lambda stored, before=before, most=most: stored.keys.forget_calls(before, most))
        page, total = await store.read(lambda stored: stored.keys.calls(9, 0))
        assert [row for row, _ in page] == rows[::-1][:left]
        assert total == left


async def test_calls_without_a_valid_key_push_no_others_out(store: Store) -> None:
    rows = [
        KeyCallRow(f"2026-01-02T03:0{minute}Z", key_id, "protect", "answered", 1, f"cred_{minute}")
        for minute in range(6)
        for key_id in ("", "proxy_a", *(["key_a"] if minute < 2 else []))
    ]
    await store.write(lambda stored: stored.keys.count_calls(rows))
    await store.write(lambda stored: stored.keys.forget_calls("", 4))
    page, _ = await store.read(lambda stored: stored.keys.calls(99, 0))
    assert [(row.minute[-2:-1], row.key_id) for row, _ in page] == [
        *((minute, key_id) for minute in "54" for key_id in ("", "proxy_a")),
        *((minute, "key_a") for minute in "10"),
    ]
