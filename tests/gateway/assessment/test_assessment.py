"""Assessment through its public face: labelled texts in ten languages, and laws that must hold for any findings."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.assessment import Assessment, assess
from gateway.assessment.tasks import CATEGORIES
from gateway.assessment.warnings import MESSAGES
from gateway.detection import EntityType, builtin_detector
from gateway.models import Action, Entity, PrivacyMode, RiskLevel, RouteDecision
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from tests.tables import table

ROWS = table(__file__)

ROOT = Path(__file__).parents[3]
CASES = [
    json.loads(line)
    for line in (ROOT / "tests/vectors/assessment/texts.jsonl").read_text(encoding="utf-8").splitlines()
]
_MARK = re.compile(r"\{\{([A-Z_]+)\|(.+?)(?:\|([\d.]+))?\}\}")
_SURE = 0.9
# Types that other recognizers may bring; what matters here is their group.
TYPES = {name: EntityType(name, group, "") for name, group in ROWS["groups"].items()} | dict(builtin_detector().types)


@cache
def registry() -> PolicyRegistry:
    return PolicyRegistry(ROOT / "policies")


def default() -> Policy:
    return registry().get("default")


def marked(text: str) -> tuple[str, list[Entity]]:
    """`{{TYPE|value|score}}` in a text, as text and findings."""
    found: list[Entity] = []
    plain = ""
    position = 0
    for match in _MARK.finditer(text):
        plain += text[position : match.start()]
        start = len(plain)
        plain += match[2]
        found.append(Entity(match[1], start, len(plain), float(match[3] or _SURE), "test"))
        position = match.end()
    return plain + text[position:], found


def judge(
    texts: list[str], *, policy: Policy | None = None, mode: str = "standard", local: bool = False, **more: Any
) -> Assessment:
    rules = policy or default()
    privacy = PrivacyMode(mode)
    plain: list[Any] = []
    hidden: list[Any] = []
    kept: list[Any] = []
    for text in texts:
        words, found = marked(text)
        plain.append(words)
        for one in found:
            kind = TYPES.get(one.type)
            rule = rules.rule_for(one.type, kind.group if kind else "custom", privacy)
            stays = rule.action is Action.KEEP or one.score < rule.min_score
            (kept if stays else hidden).append(one)
    task = more.pop("task", None)
    return assess(
        hidden,
        kept=kept,
        texts=plain,
        types=TYPES,
        task=task,
        policy=rules,
        mode=privacy,
        local_available=local,
        **more,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_labelled_text(case: dict[str, Any]) -> None:
    done = judge(case["texts"], mode=case.get("mode", "standard"), task=case.get("task"))
    assert {
        "level": done.risk.level.value,
        "route": done.route.decision.value,
        "categories": list(done.task_categories),
        "warnings": sorted(warning.code for warning in done.warnings),
    } == {
        "level": case["level"],
        "route": case["route"],
        "categories": case["categories"],
        "warnings": sorted(case["warnings"]),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_without_advice_risk_and_route_are_the_same(case: dict[str, Any]) -> None:
    told, quiet = (judge(case["texts"], task=case.get("task"), advice=advice) for advice in (True, False))
    assert quiet == Assessment(told.risk, told.route)


def test_the_labelled_texts_are_many_and_varied() -> None:
    assert len(CASES) >= 150
    assert {case["level"] for case in CASES} == set(RiskLevel)
    assert {category for case in CASES for category in case["categories"]} == set(CATEGORIES)
    for case in CASES:
        order = [name for name in CATEGORIES if name in case["categories"]]
        assert case["categories"] == order


FINDING = st.builds(
    Entity,
    type=st.sampled_from([*sorted(TYPES), "SOMETHING_NEW", "PLACEHOLDER"]),
    start=st.just(0),
    end=st.just(1),
    score=st.floats(0.0, 1.0),
    recognizer=st.just("test"),
)


@pytest.mark.slow
@given(
    hidden=st.lists(FINDING, max_size=40), kept=st.lists(FINDING, max_size=20), more=FINDING, is_hidden=st.booleans()
)
def test_one_more_finding_never_lowers_the_risk(
    hidden: list[Entity], kept: list[Entity], more: Entity, is_hidden: bool
) -> None:
    def score(hidden: list[Entity], kept: list[Entity]) -> int:
        done = assess(
            hidden,
            kept=kept,
            texts=["some words of no meaning"],
            types=TYPES,
            task=None,
            policy=default(),
            mode=PrivacyMode.STANDARD,
            local_available=False,
        )
        assert 0 <= done.risk.score <= 100
        assert (done.risk.score == 0) == (done.risk.level is RiskLevel.NONE)
        return done.risk.score

    before = score(hidden, kept)
    after = score([*hidden, more], kept) if is_hidden else score(hidden, [*kept, more])
    assert after >= before


def test_different_details_of_one_person_weigh_more_than_more_of_the_same() -> None:
    names = judge(["{{PERSON|A B}} {{PERSON|C D}} {{PERSON|E F}}"]).risk
    one = judge(["{{PERSON|A B}} {{DATE_OF_BIRTH|1.2.1980}} {{POSTAL_CODE|53111}}"]).risk
    assert one.score > 2 * names.score
    assert any("single out one person" in reason for reason in one.reasons)
    assert not any("single out" in reason for reason in names.reasons)


def test_risk_grows_with_number_and_density_and_levels_off() -> None:
    few, many, crowd = (judge(["{{EMAIL_ADDRESS|a@b.example}} " * count]).risk for count in (3, 30, 300))
    assert few.score < many.score < crowd.score < 100
    assert any("30 findings" in reason for reason in many.reasons)
    assert any("close together" in reason for reason in many.reasons)
    thin = judge([("{{EMAIL_ADDRESS|a@b.example}} " + "and nothing more to tell about it. " * 40) * 30]).risk
    assert thin.score < many.score


def test_the_assessment_repeats_no_value() -> None:
    for case in CASES:
        values = [match[1] for text in case["texts"] for match in _MARK.findall(text)]
        done = judge(case["texts"], mode=case.get("mode", "standard"), task=case.get("task"))
        told = " ".join([*done.risk.reasons, *done.route.reasons, *(warning.message for warning in done.warnings)])
        assert not [value for value in values if not value.isdigit() and value in told]


def custom(folder: Path, route: str, rules: str = "") -> Policy:
    document = f'id = "custom"\nversion = 1\ntitle = "t"\nextends = "default"\n{rules}\n[route]\n{route}\n'
    (folder / "custom.toml").write_text(document)
    return PolicyRegistry(ROOT / "policies", more=[folder]).get("custom")


MAIL = "My name is {{PERSON|Anna Berg}}, I live in {{LOCATION|Leeds}}: {{EMAIL_ADDRESS|a@b.example}}"


@pytest.mark.parametrize(("route", "rules", "expected", "reason"), ROWS["the_strictest_route_that_applies"])
def test_the_strictest_route_that_applies(tmp_path: Path, route: str, rules: str, expected: str, reason: str) -> None:
    done = judge([MAIL], policy=custom(tmp_path, route, rules), local=True)
    assert done.route.decision == expected
    assert any(reason in each for each in done.route.reasons)
    assert not any("No local surface" in each for each in done.route.reasons)


def test_local_without_a_local_surface_says_so(tmp_path: Path) -> None:
    done = judge([MAIL], policy=custom(tmp_path, "local_risk = 1"))
    assert done.route.decision is RouteDecision.LOCAL
    assert any("No local surface" in reason for reason in done.route.reasons)
    assert "local_only" in {warning.code for warning in done.warnings}


def test_unsure_and_allowed_findings_block_nothing(tmp_path: Path) -> None:
    policy = custom(tmp_path, 'blocked_types = ["contact"]')
    unsure = judge(["Reference {{PHONE_NUMBER|4471 2290|0.3}} was mentioned."], policy=policy)
    assert unsure.route.decision is RouteDecision.DIRECT
    allowed = assess(
        (),
        kept=[Entity("PHONE_NUMBER", 0, 8, 0.9, "test")],
        texts=["555 0100"],
        types=TYPES,
        task=None,
        policy=policy,
        mode=PrivacyMode.STANDARD,
        local_available=False,
    )
    assert (allowed.risk.level, allowed.route.decision) == (RiskLevel.NONE, RouteDecision.DIRECT)


def test_a_text_too_long_is_to_be_sharded_and_warned_of() -> None:
    long = MAIL + ". Nothing more is to be said about this." * 1200
    done = judge([long])
    assert done.route.decision is RouteDecision.SHARD
    assert "text_long" in {warning.code for warning in done.warnings}
    assert judge([long], tokens=100).route.decision is RouteDecision.PROTECTED
    clear = judge(["Nothing more is to be said about this. " * 1200])
    assert clear.route.decision is RouteDecision.DIRECT


def test_dense_code_is_not_sharded(tmp_path: Path) -> None:
    policy = custom(tmp_path, "shard_findings = 2\nshard_density = 1.0")
    done = judge([MAIL], policy=policy, task="Refactor this Python script")
    assert (done.task_categories, done.route.decision) == (("code",), RouteDecision.PROTECTED)
    for task, route in (("Refactor this Python script", RouteDecision.PROTECTED), ("Sum it up", RouteDecision.SHARD)):
        assert judge([MAIL], policy=policy, task=task, advice=False).route.decision is route


def test_attachments_and_changes_for_good_are_warned_of(tmp_path: Path) -> None:
    policy = custom(tmp_path, "", '[rules.PERSON]\naction = "redact"')
    done = judge([MAIL], policy=policy, attachments=("image_url",))
    assert [warning.code for warning in done.warnings] == ["attachment_passed", "not_reversible"]


def test_secrets_that_a_policy_leaves_are_warned_of(tmp_path: Path) -> None:
    policy = custom(tmp_path, "", '[rules.API_KEY]\naction = "keep"')
    done = judge(["The key is {{API_KEY|EXAMPLE-KEY|1.0}}."], policy=policy)
    assert [warning.code for warning in done.warnings] == ["secrets_present", "secrets_kept"]
    assert done.risk.level is RiskLevel.CRITICAL


@pytest.mark.parametrize("where", ["first", "last"])
def test_instructions_are_read_at_both_ends_of_a_long_text(where: str) -> None:
    filler = "Nothing happens here. " * 200
    text = f"Translate this: {filler}" if where == "first" else f"{filler} Translate this."
    assert judge([text]).task_categories == ("translate",)
    assert judge([f"{filler} Translate this. {filler}"]).task_categories == ()


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_word_of_the_lists_is_found(category: str) -> None:
    for entry in CATEGORIES[category].split():
        words = entry.lstrip("~").replace("..", "this or that")
        said = " ".join(place.split("|")[-1].rstrip("*") for place in words.split("+"))
        assert category in judge(["nothing"], task=f"Now {said.upper()}, thanks").task_categories
        assert len(entry.rstrip("*")) >= 4 or not entry.endswith("*")


@pytest.mark.parametrize(("task", "expected"), ROWS["words_in_their_place"])
def test_words_in_their_place(task: str, expected: list[str]) -> None:
    assert [*judge(["nothing"], task=task.replace("LONG", "x" * 5000)).task_categories] == expected


def test_every_warning_is_documented() -> None:
    page = (ROOT / "docs" / "assessment.md").read_text(encoding="utf-8")
    source = (ROOT / "gateway" / "assessment" / "warnings.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'_notice\("(\w+)"', source))
    assert codes == MESSAGES.keys()
    assert codes == set(re.findall(r"^\| `(\w+)` \|", page.split("## Warnings")[1], re.MULTILINE))
    categories = set(re.findall(r"`(\w+)`", page.split("## Task categories")[1].split("\n## ")[0]))
    assert set(CATEGORIES) <= categories
