"""The repository of policies keeps its guarantees."""

import asyncio

from gateway.store import Store
from gateway.store.rows import PolicyRow


def row(hash: str, version: int = 1, *, builtin: bool = False) -> PolicyRow:
    return PolicyRow("acme", version, hash, builtin, f'{{"hash": "{hash}", "title": "é"}}')


async def save(store: Store, policy: PolicyRow) -> bool:
    return await store.write(lambda stored: stored.policies.add(policy))


async def test_documents_come_in_the_order_in_which_they_were_added(store: Store) -> None:
    for hash in ("c", "a", "b"):
        assert await save(store, row(hash, ord(hash)))
    found = await store.read(lambda stored: stored.policies.after(0))
    assert [document for _, document in found] == [row(hash).document for hash in ("c", "a", "b")]
    positions = [position for position, _ in found]
    assert positions == sorted(set(positions))
    assert positions[0] > 0
    assert await store.read(lambda stored: stored.policies.after(positions[0])) == found[1:]
    assert await store.read(lambda stored: stored.policies.after(positions[-1])) == []
    assert await store.read(lambda stored: stored.policies.by_hash("a")) == row("a").document
    assert await store.read(lambda stored: stored.policies.by_hash("d")) is None


async def test_a_hash_is_unique_and_so_is_a_version_of_a_custom_policy(store: Store) -> None:
    assert await save(store, row("a"))
    assert not await save(store, row("a", 2)), "the hash is taken"
    assert not await save(store, row("b")), "the version is taken"
    assert await save(store, row("b", builtin=True))
    assert await save(store, row("c", builtin=True)), "a built-in version may have several documents"
    assert not await save(store, row("c", builtin=True))
    assert len(await store.read(lambda stored: stored.policies.after(0))) == 3


async def test_a_policy_is_retired_up_to_a_version(store: Store, other_store: Store) -> None:
    await save(store, row("a"))
    revisions = [await store.read(lambda stored: stored.policies.revision())]
    for id, version in (("acme", 2), ("acme", 1), ("other", 7)):
        await store.write(lambda stored, id=id, version=version: stored.policies.retire(id, version))
        revisions.append(await other_store.read(lambda stored: stored.policies.revision()))
    await store.write(lambda stored: stored.policies.retire("acme", 2))
    assert await other_store.read(lambda stored: stored.policies.retired()) == {"acme": 2, "other": 7}
    assert len(set(revisions)) == len(revisions)
    assert await store.read(lambda stored: stored.policies.by_hash("a")) == row("a").document


async def test_one_of_two_processes_gets_a_version(store: Store, other_store: Store) -> None:
    added = await asyncio.gather(*(save(each, row(hash)) for hash, each in (("a", store), ("b", other_store))))
    assert sorted(added) == [False, True]
