"""The repository of keys keeps its guarantees."""

import pytest

from gateway.store import ConstraintViolation, Store
from gateway.store.rows import LARGEST_NUMBER, KeyCallRow, KeyUseRow, PreviousSecretRow
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
