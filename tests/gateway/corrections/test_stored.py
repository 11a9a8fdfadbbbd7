"""The lists in the store: what another process sees, what an altered row does, and what a new installation key does."""

from collections.abc import Callable

import pytest

from gateway.corrections.given import Given
from gateway.corrections.lists import Corrections
from gateway.corrections.stored import EVERYONE, MOST_ENTRIES, MOST_TYPES, StoredCorrections
from gateway.errors import Conflict, GatewayError, Unavailable
from gateway.store import Repositories, Store
from gateway.store.rows import CorrectionRow, CorrectionsHead

KEY, NEW = b"k" * 32, b"n" * 32


@pytest.fixture
def kept(store: Store) -> StoredCorrections:
    return StoredCorrections(store, KEY)


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.corrections.stored.POLL_SECONDS", 0.0)


def told(kept: StoredCorrections, key_id: str, type: str, text: str) -> tuple[bool, int]:
    """Returns whether a text is allowed for a key, and how many denied values are in it."""
    found = Corrections(Given(), kept.of(key_id))
    return found.allows(type, text), len(found.find(text))


async def test_lists_hold_for_their_owner(store: Store, kept: StoredCorrections) -> None:
    running = StoredCorrections(store, KEY)
    assert running.of("key_anna") == ()
    assert await kept.add("key_anna", "allow", ["Anna", "Anna", "Bonn"]) == 2
    assert await kept.add("key_anna", "allow", ["Anna"]) == 0
    assert await kept.add(EVERYONE, "allow", ["Eve"], "PERSON") == 1
    assert await kept.add(EVERYONE, "deny", ["Aurora"], "PROJECT") == 1
    assert await kept.add(EVERYONE, "deny", ["AURORA"], "PROJECT") == 0
    assert told(running, "key_anna", "PERSON", "Anna") == (True, 0)
    assert told(running, "key_ben", "PERSON", "Anna") == (False, 0)
    assert told(running, "key_ben", "PERSON", "Eve") == (True, 0)
    assert told(running, "key_ben", "LOCATION", "Eve") == (False, 0)
    assert told(running, "key_anna", "X", "aurora") == (False, 1)
    entries = await kept.entries("allow")
    assert [(each.owner, each.type) for each in entries].count(("key_anna", "")) == 2
    assert "Anna" not in repr((kept, running, entries))

    assert await kept.remove(EVERYONE, "deny", ["aurora"], "PERSON") == 0
    assert await kept.remove(EVERYONE, "deny", ["aurora", "other"]) == 1
    (eve,) = (each for each in entries if each.owner == EVERYONE)
    assert await kept.remove_ids([eve.correction_id], "deny") == 0
    assert await kept.remove_ids([eve.correction_id], "allow") == 1
    assert told(running, "key_ben", "PERSON", "Eve") == (False, 0)
    assert told(running, "key_anna", "X", "aurora") == (False, 0)
    assert await kept.forget("key_anna") == 2
    assert running.of("key_anna") == ()


async def test_a_type_less_entry_prevails(kept: StoredCorrections) -> None:
    for type in ("PERSON", "", "LOCATION"):
        await kept.add("key_anna", "allow", ["Anna"], type)
    assert told(kept, "key_anna", "ORGANIZATION", "Anna") == (True, 0)


async def test_lists_are_bounded(kept: StoredCorrections) -> None:
    with pytest.raises(Conflict, match="1000 entries"):
        await kept.add(EVERYONE, "allow", [f"v{number}" for number in range(MOST_ENTRIES + 1)])
    for number in range(MOST_TYPES):
        await kept.add(EVERYONE, "deny", ["x"], f"T{number}")
    with pytest.raises(Conflict, match="32 types"):
        await kept.add(EVERYONE, "deny", ["x"], "ANOTHER")
    assert len(await kept.entries("deny")) == MOST_TYPES


def _forged(stored: Repositories) -> None:
    """Puts a copy of an allowed value into the list of everyone."""
    row = next(row for row in stored.corrections.all() if row.kind == "allow")
    stored.corrections.add([row._replace(correction_id="cor_forged", owner=EVERYONE)])


def _of_another(stored: Repositories) -> None:
    row = next(row for row in stored.corrections.all() if row.kind == "allow")
    stored.corrections.delete([row.correction_id])
    stored.corrections.add([row._replace(type="")])


def _removed(stored: Repositories) -> None:
    stored.corrections.delete([row.correction_id for row in stored.corrections.all() if row.kind == "deny"])


def _new_row(stored: Repositories) -> None:
    stored.corrections.add([CorrectionRow("cor_0", EVERYONE, "allow", "", "", b"x" * 32)])


def _without_key(stored: Repositories) -> None:
    stored.corrections.set_head(CorrectionsHead(stored.corrections.revision()))


def _without_head(stored: Repositories) -> None:
    stored.corrections.set_head(CorrectionsHead(-1))


@pytest.mark.parametrize("alter", [_forged, _of_another, _removed, _new_row, _without_key, _without_head])
async def test_altered_lists_are_refused_until_they_are_reset(
    store: Store, kept: StoredCorrections, alter: Callable[[Repositories], None]
) -> None:
    await kept.add("key_anna", "allow", ["Anna"], "PERSON")
    await kept.add("key_anna", "deny", ["Aurora"], "PROJECT")
    running = StoredCorrections(store, KEY)
    assert running.of("key_anna")

    def work(stored: Repositories) -> None:
        alter(stored)
        head = stored.corrections.head()
        stored.corrections.set_head(head._replace(revision=head.revision + 1))

    await store.write(work)
    for lists in (running, running, StoredCorrections(store, KEY)):
        with pytest.raises(Unavailable) as refused:
            lists.of("key_ben")
        assert refused.value.code == "corrections_broken"
        assert refused.value.headers("req_1")["x-should-retry"] == "false"
    with pytest.raises(GatewayError):
        await kept.add("key_anna", "allow", ["Ben"])
    await kept.reset()
    assert running.of("key_anna") == ()
    assert await kept.add("key_anna", "allow", ["Anna"]) == 1
    assert told(running, "key_anna", "PERSON", "Anna") == (True, 0)


async def test_lists_outlive_a_new_installation_key(store: Store, kept: StoredCorrections) -> None:
    """Also if the program ends in between: with the old key in place, or with the new one."""
    await kept.add("key_anna", "allow", ["Anna"])
    running = StoredCorrections(store, KEY)
    assert running.of("key_anna"), "a gateway that runs meanwhile"
    await kept.rewrap(NEW, done=False)
    for key in (KEY, NEW):
        assert told(StoredCorrections(store, key), "key_anna", "PERSON", "Anna") == (True, 0)
    await kept.rewrap(NEW, done=True)
    assert told(StoredCorrections(store, NEW), "key_anna", "PERSON", "Anna") == (True, 0)
    with pytest.raises(Unavailable):
        StoredCorrections(store, KEY).check()
    late = StoredCorrections(store, KEY, lambda: NEW)
    assert told(late, "key_anna", "PERSON", "Anna") == (True, 0), "a gateway that has not read them before"
    await StoredCorrections(store, NEW).add("key_anna", "deny", ["Aurora"], "PROJECT")
    assert told(running, "key_anna", "X", "aurora") == (False, 1)


async def test_nothing_is_read_while_there_are_no_lists(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.corrections.stored.POLL_SECONDS", 3600.0)
    kept = StoredCorrections(store, KEY)
    assert kept.of("key_anna") == ()
    monkeypatch.setattr(store, "read_now", None)
    assert kept.of("key_anna") == ()


async def test_all_lists_together_can_be_put_back(store: Store, kept: StoredCorrections) -> None:
    """Nothing outside the database says which lists are the newest."""
    await kept.add("key_anna", "allow", ["Anna"])
    head, rows = await store.read(lambda stored: (stored.corrections.head(), stored.corrections.all()))
    await kept.remove("key_anna", "allow", ["Anna"])
    assert told(kept, "key_anna", "PERSON", "Anna") == (False, 0)

    def put_back(stored: Repositories) -> None:
        stored.corrections.add(rows)
        stored.corrections.set_head(head)

    await store.write(put_back)
    assert told(kept, "key_anna", "PERSON", "Anna") == (True, 0)
