"""Policies in the gateway's own database, on disk."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.policy.storage import StoredPolicies
from gateway.store import open_store
from tests.gateway.policy import MemoryPolicies, document, policy, registry


def custom(**fields: object) -> dict[str, object]:
    return policy(**fields).document


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_both_stores_keep_alike(kind: str, tmp_path: Path) -> None:
    store = open_store(tmp_path)
    customs = StoredPolicies(store) if kind == "sqlite" else MemoryPolicies()
    one, other = custom(), custom(description="Other")
    builtin, edited = custom(version=1), custom(version=1, description="Edited")
    assert (builtin["builtin"], one["builtin"]) == (True, False)
    assert customs.save(one)
    assert not customs.save(one)
    assert not customs.save(other), "one id and version, one document"
    assert customs.save(builtin)
    assert customs.save(edited), "a built-in file may change between two releases"
    assert not customs.save(edited)
    rows = list(customs.load_all())
    assert [row for _, row in rows] == [one, builtin, edited]
    positions = [position for position, _ in rows]
    assert positions == sorted(set(positions))
    assert list(customs.load_all(positions[1])) == rows[2:]
    assert list(customs.load_all(positions[2])) == []
    before = customs.revision()
    for version in (1, 2, 1):
        customs.retire("acme", version)
    assert (customs.retired(), customs.revision() == before) == ({"acme": 2}, False)
    store.close()


def test_a_custom_policy_outlives_the_process(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    made = asyncio.run(registry(StoredPolicies(store)).create(document(description="é 😀")))
    store.close()
    store = open_store(tmp_path)
    again = registry(StoredPolicies(store))
    assert again.get("acme") == made
    assert again.by_hash(made.hash).document == made.document
    store.close()


def test_two_processes_share_one_database(tmp_path: Path) -> None:
    stores = [open_store(tmp_path) for _ in range(2)]
    one, other = (registry(StoredPolicies(store)) for store in stores)

    async def both() -> list[int]:
        posts = (who.create(document(description=f"{n}")) for n, who in enumerate([one, other] * 5))
        return sorted(made.version for made in await asyncio.gather(*posts))

    assert asyncio.run(both()) == list(range(1, 11))
    assert one.get("acme", 7) == other.get("acme", 7)
    for store in stores:
        store.close()


def test_a_closed_store_is_unavailable(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    customs = StoredPolicies(store)
    store.close()
    with pytest.raises(Unavailable):
        customs.save(custom())
    with pytest.raises(Unavailable):
        list(customs.load_all())


def test_a_row_changed_by_hand_is_not_used(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    asyncio.run(registry(StoredPolicies(store)).create(document()))
    store.close()
    with sqlite3.connect(tmp_path / "gateway.db") as db:
        db.execute("UPDATE policies SET document = replace(document, 'Acme', 'Ours') WHERE id = 'acme'")
    db.close()
    store = open_store(tmp_path)
    with pytest.raises(Unavailable, match="does not match its hash"):
        registry(StoredPolicies(store))
    store.close()
