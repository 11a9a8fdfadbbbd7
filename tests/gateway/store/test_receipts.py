"""The repository of receipts keeps its guarantees."""

from typing import Any

import pytest

from gateway.store import ConstraintViolation, Repositories, Store
from gateway.store.rows import (
    EndRow,
    FactsRow,
    NewRecord,
    OpenReceipt,
    ReceiptFilter,
    StoredHead,
    StoredReceipt,
    StoredRecord,
)
from tests.gateway.store.support import key


def record(sequence: int, request_id: str | None = None, kind: str = "receipt", owner: str = "key_1") -> NewRecord:
    request_id = request_id or f"req_{sequence}"
    return NewRecord(sequence, kind, request_id, owner, f'{{"n":"é{sequence}"}}', f"hash{sequence}", f"sig{sequence}")


def stored_as(new: NewRecord) -> StoredRecord:
    columns = (new.kind, new.request_id, new.body, new.hash, new.signature)
    return StoredRecord(new.sequence, *(column.encode() for column in columns))


async def add(store: Store, *records: NewRecord) -> None:
    await store.write(lambda stored: stored.receipts.add(records))


LOG = (
    record(1, "req_a"),
    record(2, "req_a", "outcome"),
    record(3, "req_b", owner="key_2"),
    record(4, "req_c"),
    record(5, "req_c", "outcome"),
)
A = StoredReceipt("req_a", stored_as(LOG[0]), stored_as(LOG[1]))
B = StoredReceipt("req_b", stored_as(LOG[2]))
C = StoredReceipt("req_c", stored_as(LOG[3]), stored_as(LOG[4]))


async def test_an_empty_log_has_nothing(store: Store) -> None:
    def look(stored: Repositories) -> tuple[object, ...]:
        receipts = stored.receipts
        page = receipts.page(10, 0)
        return receipts.head(), receipts.bounds(), receipts.count(), receipts.after(None, 10), receipts.hash_at(1), page

    assert await store.read(look) == (None, None, 0, [], None, ([], 0))
    await add(store)
    assert await store.read(look) == (None, None, 0, [], None, ([], 0))


async def test_a_receipt_is_found_with_its_outcome_by_its_owner(store: Store) -> None:
    await add(store, *LOG)

    async def find(request_id: str, owner: str | None) -> StoredReceipt | None:
        return await store.read(lambda stored: stored.receipts.find(request_id, owner))

    assert await find("req_a", None) == await find("req_a", "key_1") == A
    assert await find("req_b", "key_2") == B
    assert await find("req_b", "key_1") is None
    assert await find("req_d", None) is None


async def test_receipts_without_an_outcome_are_found_in_a_range(store: Store) -> None:
    await add(store, *LOG, record(6, "req_d", owner="key_2"), record(7, "req_e"))

    async def find(first: int, last: int) -> list[OpenReceipt]:
        return await store.read(lambda stored: stored.receipts.without_outcome(first, last))

    b = OpenReceipt(b"req_b", "key_2", '{"n":"é3"}'.encode())
    d = OpenReceipt(b"req_d", "key_2", '{"n":"é6"}'.encode())
    assert await find(1, 6) == [b, d]
    assert await find(4, 6) == [d]
    assert await find(3, 3) == [b]
    assert await find(4, 5) == await find(8, 9) == []


async def test_pages_are_newest_first_with_the_number_of_all(store: Store) -> None:
    await add(store, *LOG)

    async def page(owner: str | None, limit: int, offset: int) -> tuple[list[StoredReceipt], int]:
        return await store.read(lambda stored: stored.receipts.page(limit, offset, ReceiptFilter(owner)))

    assert await page(None, 10, 0) == ([C, B, A], 3)
    assert await page(None, 1, 1) == ([B], 3)
    assert await page("key_1", 10, 0) == ([C, A], 2)
    assert await page("key_1", 10, 2) == ([], 2)
    assert await page("key_3", 10, 0) == ([], 0)
    await add(store, *(record(sequence) for sequence in range(6, 1030)))
    rows, total = await page(None, 500, 0)
    assert (len(rows), total) == (500, 1027)


FACTS = {
    1: FactsRow(
        1, "key_1", "2026-01-01T10:00:00Z", "chat", "default", None, "m", None, "direct", "low", '{"URL":1}', "{}", 5
    ),
    3: FactsRow(
        3, "key_2", "2026-01-02T10:00:00Z", "chat", "strict", "w", None, "cred_1", "local", "none", "{}", "{}", 0
    ),
    4: FactsRow(
        4, "key_1", "2026-01-03T10:00:00Z", "edit", "strict", None, "m", None, "direct", "low", '{"AGE":2}', "{}", 7
    ),
}
ENDS = [EndRow("req_a", "refused", "conflict", 0, 1, 2), EndRow("req_c", "answered", None, 9, 0, 0)]


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ({"owner": "key_1", "keys": ("key_2", "key_1")}, [C, A]),
        ({"keys": ("key_2",)}, [B]),
        ({"keys": ("a label",)}, [B]),
        ({"keys": ("a label",), "owner": "key_1"}, []),
        ({"keys": ("cred_1",)}, [B]),
        ({"since": "2026-01-02T10:00:00Z"}, [C, B]),
        ({"until": "2026-01-02T10:00:00Z"}, [A]),
        ({"types": ("AGE", "URL")}, [C, A]),
        ({"types": ("A",)}, []),
        ({"outcomes": ("refused",)}, [A]),
        ({"models": ("m",), "policies": ("strict",)}, [C]),
        ({"operations": ("chat", "protect")}, [B, A]),
    ],
)
async def test_pages_of_what_is_sought(store: Store, sought: dict[str, Any], found: list[StoredReceipt]) -> None:
    rows = ReceiptFilter(**sought)
    await add(store, *LOG)
    await store.write(lambda stored: stored.keys.add(key("key_2")))
    await store.write(
        lambda stored: stored.receipts.add_facts(list(FACTS.values()), [*ENDS, EndRow("req_z", *ENDS[1][1:])])
    )
    assert await store.read(lambda stored: stored.receipts.page(9, 0, rows)) == (found, len(found))
    assert await store.read(lambda stored: stored.receipts.page(1, 1, rows)) == (found[1:2], len(found))
    sequences = {each.record.sequence for each in found}
    assert await store.read(lambda stored: stored.receipts.matching([1, 2, 3, 4, 5, 6], rows)) == sequences
    await store.write(lambda stored: stored.receipts.delete_up_to(3))
    left = [each for each in found if each == C]
    assert await store.read(lambda stored: stored.receipts.page(9, 0, rows)) == (left, len(left))


async def test_records_come_in_the_order_of_any_sequence(store: Store) -> None:
    added = [record(sequence) for sequence in (3, -(2**63), 2**63 - 1, 0, 7)]
    await add(store, *added)
    ordered = [stored_as(each) for each in sorted(added)]
    assert await store.read(lambda stored: stored.receipts.after(None, 3)) == ordered[:3]
    assert await store.read(lambda stored: stored.receipts.after(3, 10)) == ordered[3:]
    assert await store.read(lambda stored: stored.receipts.bounds()) == (-(2**63), 2**63 - 1)
    assert await store.read(lambda stored: stored.receipts.count()) == 5


async def test_a_transaction_sees_what_it_has_added(store: Store) -> None:
    def work(stored: Repositories) -> tuple[dict[str, tuple[str, str]], bytes | None]:
        stored.receipts.add(LOG[:2])
        return stored.receipts.filed("req_a"), stored.receipts.hash_at(2)

    filed, hash = await store.write(work)
    assert filed == {"receipt": ("key_1", "hash1"), "outcome": ("key_1", "hash2")}
    assert hash == b"hash2"


@pytest.mark.parametrize(
    "clash",
    [record(1, "req_d"), record(6, "req_a"), record(6, "req_a", "outcome")],
    ids=["sequence", "receipt", "outcome"],
)
async def test_a_sequence_and_a_kind_of_a_request_are_unique(store: Store, clash: NewRecord) -> None:
    await add(store, *LOG)
    with pytest.raises(ConstraintViolation):
        await add(store, record(7), clash)
    assert await store.read(lambda stored: stored.receipts.count()) == len(LOG)


async def test_there_is_one_head_and_the_last_one_stays(store: Store) -> None:
    for size, kept in ((0, 0), (1, 1), (2**53 - 1, 2**53 - 1), (2**53, -1)):
        await store.write(lambda stored, size=size: stored.receipts.set_head(size, f"h{size}", "— é"))
        head = StoredHead(kept, f"h{size}".encode(), "— é".encode())
        assert await store.read(lambda stored: stored.receipts.head()) == head, "an impossible size is none"


async def test_receipts_are_found_by_the_digests_of_their_values(store: Store) -> None:
    rows = [(b"x", 1), (b"x", 3), (b"x", 4), (b"y", 3)]

    async def find(digest: bytes, limit: int = 10, offset: int = 0) -> tuple[list[StoredReceipt], int]:
        return await store.read(lambda stored: stored.receipts.with_value(digest, limit, offset))

    await add(store, *LOG)
    for _ in range(2):
        await store.write(lambda stored: stored.receipts.add_values(rows))
    assert await find(b"x") == ([C, B, A], 3)
    assert await find(b"x", 1, 1) == ([B], 3)
    assert await find(b"x", 0) == ([], 3)
    assert await find(b"y") == ([B], 1)
    assert await find(b"") == await find(b"z") == ([], 0)
    await store.write(lambda stored: stored.receipts.delete_up_to(3))
    assert await find(b"x") == ([C], 1)
    assert await find(b"y") == ([], 0)


async def test_digests_are_found_and_deleted_across_blocks(store: Store) -> None:
    kept = [1023, 1024, 1025, 4095, 5000, 2**40]
    await add(store, *(record(sequence) for sequence in kept))
    await store.write(lambda stored: stored.receipts.add_values([(b"x", sequence) for sequence in kept]))
    for cut in (0, 1023, 1024, 4000, 4095, 4096, 2**40):
        await store.write(lambda stored, cut=cut: stored.receipts.delete_up_to(cut))
        left = [sequence for sequence in reversed(kept) if sequence > cut]
        found, total = await store.read(lambda stored: stored.receipts.with_value(b"x", 10, 0))
        assert ([each.record.sequence for each in found], total) == (left, len(left))


async def test_the_last_mark_of_a_key_stays(store: Store) -> None:
    async def mark() -> bytes | None:
        return await store.read(lambda stored: stored.receipts.value_key())

    assert await mark() is None
    for number in (b"1", b"2", b"2"):
        await store.write(lambda stored, number=number: stored.receipts.set_value_key(number))
        assert await mark() == number
    await store.write(lambda stored: stored.receipts.delete_up_to(2**53))
    assert await mark() == b"2"
    assert await store.read(lambda stored: stored.receipts.with_value(b"2", 10, 0)) == ([], 0)
