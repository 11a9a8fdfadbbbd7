"""Which policies there are, and that none is ever lost."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Conflict, NotFound, Unavailable, Unprocessable
from gateway.policy import registry as registry_module
from gateway.policy.document import parse
from gateway.policy.inheritance import resolve
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from tests.gateway.policy import BUILTINS, MemoryPolicies, document, registry
from tests.tables import table

CASES = table(__file__)

BASE = 'id = "base"\ntitle = "Base"\n'


def create(policies: PolicyRegistry, **fields: Any) -> Policy:
    return asyncio.run(policies.create(document(**fields)))


def test_a_builtin_policy_is_found() -> None:
    policies = registry()
    made = policies.get("default")
    assert (made.id, made.builtin) == ("default", True)
    assert policies.get("default", made.version) is made
    assert policies.by_hash(made.hash) is made


@pytest.mark.parametrize(("id", "version"), [("nobody", None), ("default", 99), ("Jane Roe", None), ("", None)])
def test_unknown_policies_are_not_found(id: str, version: int | None) -> None:
    with pytest.raises(NotFound) as refusal:
        registry(MemoryPolicies()).get(id, version)
    assert (refusal.value.code, refusal.value.param) == ("policy_not_found", "policy_id")
    assert "Jane" not in refusal.value.message


def test_an_unknown_hash_is_not_found() -> None:
    with pytest.raises(NotFound) as refusal:
        registry(MemoryPolicies()).by_hash("0" * 64)
    assert (refusal.value.code, refusal.value.param) == ("policy_not_found", "hash")


def test_a_hash_belongs_to_one_policy() -> None:
    policies = registry(MemoryPolicies())
    first = create(policies)
    create(policies, description="Second")
    assert policies.by_hash(first.hash, "acme") is first
    with pytest.raises(NotFound):
        policies.by_hash(first.hash, "default")


def test_versions_are_immutable_and_all_stay() -> None:
    policies = registry(MemoryPolicies())
    first = create(policies)
    second = create(policies, description="Second")
    assert (first.version, second.version) == (1, 2)
    assert policies.get("acme") == second
    assert policies.get("acme", 1) == first
    assert policies.by_hash(first.hash) == first
    assert [made.id for made in policies.list()][-1] == "acme"
    assert policies.list()[-1].version == 2


def test_posting_what_is_there_already_changes_nothing() -> None:
    customs = MemoryPolicies()
    policies = registry(customs)
    first = create(policies, rules={"PERSON": {"action": "redact"}})
    stored = len(list(customs.load_all()))
    assert create(policies, rules={"PERSON": {"action": "redact"}}) is first
    assert len(list(customs.load_all())) == stored
    create(policies)
    assert create(policies, rules={"PERSON": {"action": "redact"}}).version == 3, "an older content is a new version"


@pytest.mark.parametrize("faults", [{}, {"title": None}, {"version": 1}, {"extends": "default"}, {"x" * 70_000: 1}])
def test_builtin_ids_cannot_be_taken(faults: dict[str, Any]) -> None:
    """This is reported before anything else that is wrong."""
    with pytest.raises(Conflict) as refusal:
        create(registry(MemoryPolicies()), id="default", **faults)
    assert refusal.value.param == "id"


def test_without_a_store_there_are_no_custom_policies() -> None:
    with pytest.raises(Unavailable):
        create(registry())


def test_customs_outlive_the_process() -> None:
    customs = MemoryPolicies()
    made = create(registry(customs), deny=[{"type": "PROJECT", "terms": ["Aurora"]}])
    again = registry(customs)
    assert again.get("acme") == made
    assert again.by_hash(made.hash).document == made.document
    assert len(again.get("acme").find("aurora")) == 1


def test_another_process_is_noticed_on_a_miss() -> None:
    customs = MemoryPolicies()
    one, other = registry(customs), registry(customs)
    made = create(one)
    assert other.by_hash(made.hash) == made
    assert other.get("acme") == made
    assert create(other, description="Second").version == 2


def test_another_process_s_new_version_is_noticed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    customs = MemoryPolicies()
    one, other = registry(customs), registry(customs)
    create(one)
    assert other.get("acme").version == 1
    create(one, description="Second")
    monkeypatch.setattr(registry_module, "_FRESH_SECONDS", 0.0)
    for _ in range(500):
        if other.get("acme").version == 2:
            break
        asyncio.run(asyncio.sleep(0.01))
    assert other.get("acme").version == 2


def test_guessing_at_ids_does_not_read_the_store_each_time() -> None:
    class Counting(MemoryPolicies):
        reads = 0

        def load_all(self, after: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
            self.reads += 1
            return super().load_all(after)

    customs = Counting()
    policies = registry(customs)
    before = customs.reads
    for _ in range(200):
        with pytest.raises(NotFound):
            policies.get("nobody")
    assert customs.reads - before < 20


def test_two_processes_take_different_numbers() -> None:
    """The other one is always a moment quicker, until it stops."""

    class Rival(MemoryPolicies):
        left = 3

        def save(self, document: Mapping[str, Any]) -> bool:
            if not document["builtin"] and self.left:
                self.left -= 1
                words = parse({"id": "acme", "title": f"Rival {self.left}"})
                rival = resolve(words, version=document["version"], builtin=False, parent=None)
                assert super().save(rival.document)
            return super().save(document)

    policies = registry(Rival())
    assert create(policies).version == 4
    assert [policies.get("acme", n).title for n in (1, 2, 3, 4)] == ["Rival 2", "Rival 1", "Rival 0", "Acme"]


def test_many_at_once_in_one_process() -> None:
    policies = registry(MemoryPolicies())

    async def all_of_them() -> list[Policy]:
        return list(await asyncio.gather(*(policies.create(document(description=f"{n}")) for n in range(20))))

    made = asyncio.run(all_of_them())
    assert sorted(one.version for one in made) == list(range(1, 21))


def test_a_child_stays_with_the_version_it_was_made_on() -> None:
    policies = registry(MemoryPolicies())
    parent = create(policies, id="parent", rules={"PERSON": {"action": "redact"}})
    child = create(policies, extends="parent")
    create(policies, id="parent", rules={"PERSON": {"action": "hash"}})
    assert policies.get("acme").document["extends"] == {"id": "parent", "version": 1, "hash": parent.hash}
    assert policies.by_hash(child.hash).document["rules"]["PERSON"] == {"action": "redact"}
    renewed = create(policies, extends="parent")
    assert renewed.version == 2, "the same text on a newer parent says something else"
    assert renewed.document["rules"]["PERSON"] == {"action": "hash"}


def test_extends_is_four_policies_deep_at_most() -> None:
    policies = registry(MemoryPolicies())
    create(policies, id="two", extends="default")
    create(policies, id="three", extends="two")
    create(policies, id="four", extends="three")
    with pytest.raises(Unprocessable, match="more than 4 policies deep") as refusal:
        create(policies, id="five", extends="four")
    assert refusal.value.param == "extends"


def test_there_are_bounds_on_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "MAX_CUSTOM_POLICIES", 2)
    monkeypatch.setattr(registry_module, "MAX_CUSTOM_VERSIONS", 3)
    policies = registry(MemoryPolicies())
    create(policies, id="one")
    create(policies, id="two")
    with pytest.raises(Conflict, match="2 custom policies"):
        create(policies, id="three")
    create(policies, id="two", description="Second")
    with pytest.raises(Conflict, match="3 versions"):
        create(policies, id="two", description="Third")
    assert create(policies, id="two", description="Second").version == 2, "what is there already is no new version"
    monkeypatch.setattr(registry_module, "MAX_CUSTOM_VERSIONS", 5)
    asyncio.run(policies.retire("one"))
    create(policies, id="three")
    with pytest.raises(Conflict, match="2 custom policies"):
        create(policies, id="one")


@pytest.fixture
def retiring(monkeypatch: pytest.MonkeyPatch) -> tuple[PolicyRegistry, PolicyRegistry, Policy]:
    """Two processes, of which the first has retired the policy of both. Each looks at the store every time."""
    monkeypatch.setattr(registry_module, "_FRESH_SECONDS", 0.0)
    customs = MemoryPolicies()
    one, other = registry(customs), registry(customs)
    made = create(one)
    assert other.get("acme") == made
    assert asyncio.run(one.retire("acme")) == made
    return one, other, made


@pytest.mark.parametrize("which", [0, 1])
def test_a_retired_policy_is_refused_by_name_and_explained_by_hash(
    retiring: tuple[PolicyRegistry, PolicyRegistry, Policy], which: int
) -> None:
    policies, made = (retiring[0], retiring[1])[which], retiring[2]
    with pytest.raises(NotFound, match="is retired") as refusal:
        policies.get("acme")
    assert (refusal.value.code, refusal.value.param) == ("policy_retired", "policy_id")
    assert policies.by_hash(made.hash, "acme") == policies.get("acme", 1) == made
    assert "acme" not in [each.id for each in policies.list()]
    with pytest.raises(Unprocessable, match="extends: this policy is retired"):
        create(policies, id="child", extends="acme")


def test_installing_a_retired_policy_again_makes_the_next_version(
    retiring: tuple[PolicyRegistry, PolicyRegistry, Policy],
) -> None:
    one, other, made = retiring
    again = create(other)
    assert (again.version, again.hash == made.hash) == (2, False)
    assert one.get("acme") == other.get("acme") == again
    assert asyncio.run(one.retire("acme")).version == 2


@pytest.mark.parametrize(
    ("id", "needed_by", "error", "said"),
    [
        ("default", [], Conflict, "A built-in policy cannot be retired"),
        ("nobody", [], NotFound, "There is no such policy"),
        ("gone", [], NotFound, "is retired"),
        ("acme", [], Conflict, "needed by the policy `child`, the policy `other-child`. Change"),
        ("child", ["the key `key_1`"], Conflict, "needed by the key `key_1`. Change"),
    ],
)
def test_a_policy_that_is_needed_is_not_retired(
    id: str, needed_by: list[str], error: type[Exception], said: str
) -> None:
    policies = registry(MemoryPolicies())
    for name, parent in {"gone": None, "acme": None, "other-child": "acme", "child": "acme", "late": "acme"}.items():
        create(policies, id=name, extends=parent)
    for name in ("gone", "late"):
        asyncio.run(policies.retire(name))
    with pytest.raises(error, match=said):
        asyncio.run(policies.retire(id, needed_by=needed_by))
    assert {each.id for each in policies.list()} >= {"acme", "child", "default"}


def test_the_log_says_who_changed_what(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(registry_module, "_FRESH_SECONDS", 0.0)
    caplog.set_level("INFO")
    customs = MemoryPolicies()
    one, other = registry(customs), registry(customs)
    made = asyncio.run(one.create(document(), by="key_1"))
    create(one)
    other.list()
    asyncio.run(other.retire("acme", by="key_2"))
    one.list()
    installed, retired = (
        "policy acme@1 is installed by {}, hash " + made.hash,
        "policy acme is retired up to version 1 by ",
    )
    assert [record.getMessage() for record in caplog.records] == [
        installed.format("key_1"),
        installed.format("another process"),
        retired + "key_2",
        retired + "another process",
    ]


def test_an_earlier_form_of_a_builtin_policy_stays_known(tmp_path: Path) -> None:
    """A receipt of before the update must still lead to what it was made under."""
    customs = MemoryPolicies()
    file = tmp_path / "base.toml"
    file.write_text(BASE)
    old = PolicyRegistry(tmp_path, customs).get("base")
    file.write_text(BASE.replace("Base", "Better") + "version = 2\n")
    updated = PolicyRegistry(tmp_path, customs)
    assert updated.get("base").title == "Better"
    assert updated.get("base", 1).document == updated.by_hash(old.hash).document == old.document
    file.write_text(BASE.replace("Base", "Edited") + "version = 2\n")
    edited = PolicyRegistry(tmp_path, customs)
    assert edited.get("base").title == edited.get("base", 2).title == "Edited"
    assert edited.by_hash(updated.get("base").hash).title == "Better", "changed in place: by its hash it stays known"


def test_builtin_policies_are_stored_once() -> None:
    customs = MemoryPolicies()
    registry(customs)
    stored = len(list(customs.load_all()))
    registry(customs)
    assert len(list(customs.load_all())) == stored == len(registry().list())


def test_a_stored_policy_that_belies_its_hash_is_not_used() -> None:
    customs = MemoryPolicies()
    create(registry(customs), rules={"PERSON": {"action": "redact"}})
    tampered = [json.loads(json.dumps(one).replace('"redact"', '"keep"')) for _, one in customs.load_all()]
    fresh = MemoryPolicies()
    for one in tampered:
        fresh.save(one)
    with pytest.raises(Unavailable, match="does not match its hash"):
        registry(fresh)


@pytest.mark.parametrize(("files", "reason"), CASES["an_unsound_folder_fails_at_start"])
def test_an_unsound_folder_fails_at_start(tmp_path: Path, files: Mapping[str, str], reason: str) -> None:
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text)
    with pytest.raises(Unprocessable, match=reason):
        PolicyRegistry(tmp_path)


def test_dropping_in_one_file_makes_a_policy(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('id = "mine"\ntitle = "Mine"\nextends = "default"\n')
    policies = PolicyRegistry(BUILTINS, more=[tmp_path])
    assert policies.get("mine").document["extends"]["id"] == "default"
