"""Valid and invalid documents: every refusal has its reason and repeats no value."""

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import GatewayError, TooLarge, Unprocessable
from gateway.policy.files import read_policy_file
from tests.gateway.policy import VECTORS, MemoryPolicies, document, policy, registry

pytestmark = pytest.mark.slow

REFUSED: dict[str, dict[str, Any]] = json.loads((VECTORS / "refused.json").read_text(encoding="utf-8"))


def test_every_refused_policy_is_a_file_and_every_file_is_listed() -> None:
    assert sorted(REFUSED) == sorted(path.name for path in (VECTORS / "refused").iterdir())
    assert len(REFUSED) >= 40


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_when_posted(name: str) -> None:
    expected = REFUSED[name]
    customs = MemoryPolicies()
    policies = registry(customs)
    before = len(list(customs.load_all()))
    with pytest.raises(GatewayError) as refusal:
        asyncio.run(policies.create(read_policy_file(VECTORS / "refused" / name)))
    assert expected["reason"] in refusal.value.message
    assert refusal.value.param == expected["param"]
    assert refusal.value.status == expected.get("status", 422)
    assert len(list(customs.load_all())) == before


@pytest.mark.parametrize("name", sorted(set(REFUSED) - {n for n, e in REFUSED.items() if e.get("only") == "create"}))
def test_refused_when_previewed_as_a_file(name: str) -> None:
    with pytest.raises(GatewayError):
        registry().preview(read_policy_file(VECTORS / "refused" / name))


@pytest.mark.parametrize("field", ["id", "title", "description", "attachments", "extends"])
def test_a_refusal_repeats_no_value(field: str) -> None:
    canary = "Canary Jane Roe +44 20 7946 0958\x00"
    with pytest.raises(Unprocessable) as refusal:
        policy(**{field: canary})
    assert "Canary" not in str(refusal.value)
    assert "7946" not in str(refusal.value.body("req_1"))
    assert refusal.value.param == field


@pytest.mark.parametrize("name", ["tool_arguments", "tool_calls"])
def test_tools_may_be_named_in_whose_arguments_values_are_restored(name: str) -> None:
    made = policy(restore={name: ["send"]})
    assert made.document["restore"] == {"urls": "source", "tool_arguments": ["send"]}
    assert [made.restore.in_arguments_of(tool) for tool in ("send", "search", None)] == [True, False, False]


def test_a_value_in_the_place_of_a_name_is_not_repeated() -> None:
    with pytest.raises(Unprocessable) as refusal:
        policy(rules={"jane@example.org": {"action": "redact", "colour": "red"}})
    assert "jane" not in str(refusal.value.body("req_1"))
    with pytest.raises(Unprocessable) as refusal:
        policy(**{"jane@example.org": 1})
    assert "jane" not in str(refusal.value.body("req_1"))


def test_the_reason_of_a_pattern_repeats_nothing_of_it() -> None:
    for regex in ("canary(", "canary[", "canary**", "canary\\q", "canary(?P<x", "(?=canary)", "canary{1001}"):
        with pytest.raises(Unprocessable) as refusal:
            policy(patterns=[{"name": "p", "type": "X", "regex": regex}])
        assert "canary" not in refusal.value.message


def test_a_policy_at_the_bounds_is_accepted() -> None:
    made = policy(
        id="a" * 64,
        title="t" * 120,
        rules={f"TYPE_{n}": {"action": "redact"} for n in range(64)},
        patterns=[{"name": f"p{n}", "type": "TICKET", "regex": f"{n}" + "x" * 500} for n in range(32)],
        deny=[{"type": f"PROJECT_{n}", "terms": [f"term {n} {m}" for m in range(20)]} for n in range(32)],
        allow=[{"values": [f"value {n}" for n in range(360)]}],
        session={"default_ttl_seconds": 60, "max_ttl_seconds": 60, "max_values": 1},
    )
    assert made.session.max_ttl_seconds == 60


def test_size_counts_bytes_as_posted() -> None:
    terms = ["é" * 150 for _ in range(200)]
    assert policy(deny=[{"type": "X", "terms": terms}]).id == "acme"
    with pytest.raises(TooLarge):
        policy(deny=[{"type": "X", "terms": terms + ["é" * 150] * 100}])


def test_all_faults_are_reported_at_once() -> None:
    told = "session.max_values: input should [^;]*; colour: unknown field; size: unknown field."
    with pytest.raises(Unprocessable, match=told) as refusal:
        policy(session={"max_values": 0}, colour=1, size=2)
    assert refusal.value.param == "session.max_values"
    with pytest.raises(Unprocessable, match=r"unknown field\. \(3 more\)"):
        policy(**{f"field_{n}": 1 for n in range(11)})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_json_value_anywhere_is_accepted_or_refused(value: Any) -> None:
    for field in ("rules", "deny", "patterns", "strict", "route", "title", "extends"):
        try:
            policy(**{field: value})
        except GatewayError as refusal:
            assert refusal.status in (413, 422)


def test_a_policy_file_is_toml_or_json(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: acme")
    with pytest.raises(Unprocessable, match=r"a\.yaml: The name of a policy file must end in \.toml or \.json"):
        read_policy_file(tmp_path / "a.yaml")
    (tmp_path / "a.json").write_text(json.dumps(document()))
    (tmp_path / "a.toml").write_text('id = "acme"\ntitle = "Acme"\n')
    assert read_policy_file(tmp_path / "a.json") == read_policy_file(tmp_path / "a.toml") == document()


def test_a_huge_policy_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("#" * (64 * 1024 + 1))
    with pytest.raises(TooLarge, match=r"a\.toml"):
        read_policy_file(tmp_path / "a.toml")


def test_the_examples_of_the_documentation_hold() -> None:
    page = (VECTORS.parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
    examples = [block.partition("```")[0] for block in page.split("```toml\n")[1:]]
    acme, defaults = (registry().preview(tomllib.loads(example)) for example in examples)
    assert len(acme.find("Aurora, ticket TCK-123456")) == 2
    stated = policy(id=defaults.id, title=defaults.title)
    assert defaults.hash == stated.hash, "the page states the defaults"
    assert set(defaults.document) - set(tomllib.loads(examples[1])) == {
        *("version", "builtin", "hash", "description", "rules", "strict", "allow", "deny", "patterns")
    }
