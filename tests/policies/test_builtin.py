"""The built-in policies: what each rule does, and that people can read why."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gateway.detection import builtin_detector
from gateway.models import Action, PrivacyMode
from gateway.policy.registry import PolicyRegistry
from gateway.policy.review import warnings
from tests.conftest import vectors
from tests.gateway.policy import BUILTINS, ROOT, VECTORS
from tests.policies.working import protect

POLICIES = PolicyRegistry(BUILTINS)
IDS = [policy.id for policy in POLICIES.list()]
WORK: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (VECTORS / "builtin").glob("*.json")
}
CASES = [(id, case) for id, work in sorted(WORK.items()) for case in work["cases"]]

# Types that policies speak of and that only the name model finds.
AWAITED = {"LOCATION", "ORGANIZATION", "NRP", "TITLE"}


def test_the_promised_policies_are_there() -> None:
    promised = {"default", "strict", "secrets-only", "pci", "hipaa-safe-harbor", "gdpr"}
    assert promised == set(IDS) == set(WORK)


@pytest.mark.parametrize(("id", "case"), CASES, ids=lambda x: x if isinstance(x, str) else f"{x['rule']}-{x['mode']}")
def test_each_rule_at_work(id: str, case: dict[str, Any]) -> None:
    assert protect(POLICIES.get(id), case) == case["becomes"]


@pytest.mark.parametrize("id", IDS)
def test_no_rule_is_without_a_case(id: str) -> None:
    document = POLICIES.get(id).document
    rules = {f"rules.{key}" for key in document["rules"]} | {"otherwise"}
    rules |= {f"strict.rules.{key}" for key in document["strict"]["rules"]}
    rules |= {"strict.otherwise"} if "otherwise" in document["strict"] else set()
    rules |= {f"patterns.{pattern['name']}" for pattern in document["patterns"]}
    assert {case["rule"] for case in WORK[id]["cases"]} == rules
    for case in WORK[id]["cases"]:
        named = case["rule"].rpartition(".")[2]
        assert "text" in case or named in {case["type"], case["group"], "otherwise"}
        assert (case["mode"] == "strict") == case["rule"].startswith("strict.")


@pytest.mark.parametrize("mode", list(PrivacyMode))
@pytest.mark.parametrize("id", IDS)
def test_a_whole_document_found_by_detection_itself(id: str, mode: PrivacyMode) -> None:
    document = WORK[id]["document"]
    case = {"text": document["text"], "mode": mode.value}
    assert protect(POLICIES.get(id), case, detect=True) == document[mode.value]


@pytest.mark.parametrize("id", IDS)
def test_a_compliance_officer_can_read_it(id: str) -> None:
    text = (BUILTINS / f"{id}.toml").read_text(encoding="utf-8")
    head = re.match(r"(?:#.*\n)+", text)
    assert head is not None
    assert "For:" in head[0]
    policy = POLICIES.get(id)
    assert 40 <= len(policy.description) <= 400
    assert f"`{id}`" in (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 230
    written = tomllib.loads(text)
    assert (written["id"], written["version"]) == (id, policy.version)


@pytest.mark.parametrize("id", IDS)
def test_nothing_in_it_is_idle_or_misspelt(id: str) -> None:
    notices = warnings(POLICIES.get(id), builtin_detector().types)
    unknown = {re.findall(r"`(\w+)`", notice.message)[0] for notice in notices if notice.code == "unknown_type"}
    assert unknown <= AWAITED
    assert [notice for notice in notices if notice.code != "unknown_type"] == []


def test_all_eighteen_identifiers_are_mapped_or_named_as_not_covered() -> None:
    """45 CFR 164.514(b)(2)(i)(A)-(R)."""
    text = (BUILTINS / "hipaa-safe-harbor.toml").read_text(encoding="utf-8")
    head, _, body = text.partition("id = ")
    for letter in "ABCDEFGHIJKLMNOPQR":
        assert re.search(rf"^#\s+\({letter}\)\s+\S", head, re.MULTILINE), letter
        assert f"({letter})" in body or re.search(rf"\({letter}\).*(NOT COVERED|refused)", head), letter


def test_hipaa_keeps_no_way_back() -> None:
    policy = POLICIES.get("hipaa-safe-harbor")
    types = {**{name: kind.group for name, kind in builtin_detector().types.items()}, "NEW_TYPE": "new_group"}
    for mode in PrivacyMode:
        actions = {policy.rule_for(name, group, mode).action for name, group in types.items()}
        assert actions <= {Action.REDACT, Action.GENERALIZE}


@pytest.mark.parametrize("id", IDS)
def test_secrets_are_hidden_under_every_policy(id: str) -> None:
    policy = POLICIES.get(id)
    for name, kind in builtin_detector().types.items():
        if kind.group == "secret":
            for mode in PrivacyMode:
                assert policy.rule_for(name, kind.group, mode).action is not Action.KEEP


# The common types of the labelled data, as detection calls them and where it has them.
COMMON = vectors("policies/common_types")
POSTCODES = {"ZIP_CODE", "UK_POSTCODE", "DE_PLZ"}


def test_default_hides_what_the_labelled_data_says_must_be_hidden(shared_data: Path) -> None:
    """redact: always; optional: in strict mode; keep: never."""
    policy = POLICIES.get("default")
    labels = json.loads((shared_data / "label_map.json").read_text(encoding="utf-8"))
    wrong = []
    for labels_of_set in labels.values():
        for label, meaning in labels_of_set.items():
            if meaning["common"] not in COMMON or meaning["action"] == "ignore":
                continue
            name, group = ("POSTAL_CODE", "address") if label in POSTCODES else COMMON[meaning["common"]]
            hidden = tuple(policy.rule_for(name, group, mode).action is not Action.KEEP for mode in PrivacyMode)
            expected = {"redact": (True, True), "optional": (False, True), "keep": (False, False)}[meaning["action"]]
            if hidden != expected:
                wrong.append(label)
    assert wrong == []
