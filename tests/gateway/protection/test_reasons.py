"""Every finding of every recognizer has a reason of the closed set, and reasons quote no text."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.detection.engines import Engines
from gateway.detection.recognizer import PatternRecognizer
from gateway.models import Action, Entity, PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector
from gateway.protection.reasons import (
    Reason,
    reason_of,
    settings_that_hide,
    settings_that_keep,
    why_kept,
)
from gateway.text.fields import Span, TextField
from tests.conftest import ROOT

_POLICY = PolicyRegistry(BUILTIN_POLICIES).get("default")


@pytest.mark.parametrize(
    ("recognizer", "type", "score", "reason"),
    [
        ("email.plain", "EMAIL_ADDRESS", 0.95, "pattern"),
        ("iban", "IBAN_CODE", 1.0, "checked_pattern"),
        ("jwt", "JWT", 1.0, "checked_pattern"),
        ("us.ssn", "US_SSN", 0.5, "pattern"),
        ("us.ssn", "US_SSN", 0.9, "label"),
        ("bank.czech", "BANK_ACCOUNT", 0.8, "label"),
        # With the score of an address inside it.
        ("url.plain", "URL", 1.0, "pattern"),
        ("labelled.id", "CUSTOMER_ID", 0.7, "label"),
        ("secret.assigned", "PASSWORD", 1.0, "label"),
        ("government_numbers", "NL_BSN", 0.95, "checked_pattern"),
        ("government_numbers", "ID_NUMBER", 0.55, "label"),
        ("government_numbers", "US_PASSPORT", 0.2, "pattern"),
        ("names", "PERSON", 0.95, "name_model_high"),
        ("names", "PERSON", 0.8, "name_model_medium"),
        ("names", "PERSON", 0.6, "name_model_low"),
        ("onnx", "PERSON", 0.95, "name_model_high"),
        ("presidio", "PERSON", 0.95, "detection_service"),
        ("policy:deny", "PROJECT", 1.0, "policy"),
        ("policy:ticket", "TICKET", 0.8, "policy"),
        ("literal", "PLACEHOLDER", 1.0, "placeholder_lookalike"),
        ("correction", "PERSON", 1.0, "correction"),
        # In a folder that the operator added.
        ("acme.badge", "BADGE", 0.9, "pattern"),
        ("acme.badge", "BADGE", 1.0, "checked_pattern"),
    ],
)
def test_reason(recognizer: str, type: str, score: float, reason: str) -> None:
    assert reason_of(Entity(type, 0, 4, score, recognizer)) == reason
    span = Span(0, 4, type, Action.PLACEHOLDER, score, recognizer)
    assert reason_of(span) == reason
    assert reason_of(span._replace(is_repeat=True)) is Reason.KNOWN_VALUE


def test_every_recognizer_has_a_reason() -> None:
    detector, seen = builtin_detector(), defaultdict[str, Counter[Reason]](Counter)
    for recognizer in detector.recognizers:
        for example in recognizer.examples:
            for found in detector.detect(example.text):
                seen[found.recognizer][reason_of(found)] += 1
    assert seen.keys() == {each.id for each in detector.recognizers}
    by_label = {each.id for each in detector.recognizers if getattr(each, "by_label", False)}
    assert all({*counts} == {Reason.LABEL} for id, counts in seen.items() if id in by_label or "labelled" in id)
    alone = {Reason.PATTERN, Reason.CHECKED_PATTERN, Reason.LABEL}
    assert set().union(*seen.values()) == alone
    for each in detector.recognizers:
        if isinstance(each, PatternRecognizer) and all(pattern.needs_context for pattern in each.patterns):
            assert Reason.PATTERN not in seen[each.id]
            assert Reason.LABEL in seen[each.id] or each.validator is not None


def test_reasons_are_sentences_without_text() -> None:
    for reason in Reason:
        assert reason.sentence.endswith(".")
        assert reason.sentence.isascii()
        assert not any(map(str.isdigit, reason.sentence))


@pytest.mark.parametrize(
    ("first", "later", "reasons"),
    [
        ("Write to jane.roe@acme.test.", "jane.roe@acme.test", {"pattern"}),
        ("My password is Tr0ub4dor&3x.", "It was Tr0ub4dor&3x", {"known_value"}),
        # First recognized in the later text.
        ("It was Tr0ub4dor&3x", "My password is Tr0ub4dor&3x.", {"label"}),
    ],
)
def test_repeated_values_are_marked(first: str, later: str, reasons: set[str]) -> None:
    protector = Protector(Engines(builtin_detector()), hash_key=b"k" * 32)
    for again in range(2):  # the second time, from the memory
        blocks = [[TextField({"t": text}, "t", text)] for text in (first, later)]
        found = protector.find(blocks, _POLICY, PrivacyMode.STANDARD, remember_for="key_a")
        assert {reason_of(span) for span in found[1].spans[0]} == reasons, again
        if reasons == {"label"}:
            assert {reason_of(span) for span in found[0].spans[0]} == {"known_value"}


def test_a_lookalike_is_named() -> None:
    """A text that holds the placeholder of an earlier block's value literally."""
    protector, key = Protector(builtin_detector(), hash_key=b"k" * 32), b"p" * 32
    value = "jane.roe@acme.test"
    literal = Placeholders(key).mint("EMAIL_ADDRESS", value)
    blocks = [[TextField({"t": text}, "t", text)] for text in (value, f"Look: {literal}")]
    done = protector.protect(blocks, _POLICY, PrivacyMode.STANDARD, Placeholders(key))
    assert [reason_of(span) for span in done.hidden] == [Reason.PATTERN, Reason.PLACEHOLDER_LOOKALIKE]
    assert settings_that_hide(done.hidden[1], _POLICY, {}) == ()


def _policy(**members: object) -> Policy:
    return PolicyRegistry(BUILTIN_POLICIES).preview({"id": "own", "title": "Own", "extends": "default", **members})


def test_settings_that_would_change_a_finding() -> None:
    types = builtin_detector().types
    name = Span(0, 4, "PERSON", Action.PLACEHOLDER, 0.6, "names")
    assert settings_that_hide(name, _POLICY, types) == ("rules.PERSON", "rules.PERSON.min_score", "allow", "svc_allow")
    card = name._replace(type="CREDIT_CARD", recognizer="payment_card.long", score=1.0)
    assert settings_that_hide(card, _POLICY, types) == ("rules.CREDIT_CARD", "allow")
    blocked = name._replace(action=Action.BLOCK)
    assert settings_that_hide(blocked, _POLICY, types) == ("rules.PERSON", "allow")
    own = name._replace(type="PROJECT", recognizer="policy:deny", score=1.0)
    assert settings_that_hide(own, _POLICY, types) == ("deny", "rules.PROJECT")
    assert settings_that_hide(own._replace(recognizer="policy:ticket"), _POLICY, types)[0] == "patterns.ticket"
    assert settings_that_hide(name._replace(recognizer="correction"), _POLICY, types) == ("svc_deny",)


@pytest.mark.parametrize(
    ("members", "score", "why", "settings"),
    [
        ({"allow": [{"values": ["Jane"]}]}, 0.9, "allow_list", ("allow",)),
        ({"rules": {"PERSON": {"action": "keep"}}}, 0.9, "rule", ("rules.PERSON", "svc_deny")),
        ({}, 0.1, "min_score", ("rules.PERSON.min_score", "svc_deny")),
        ({}, 0.9, "correction", ("svc_allow",)),
    ],
)
def test_why_something_was_kept(members: dict[str, object], score: float, why: str, settings: tuple[str, ...]) -> None:
    found = Entity("PERSON", 0, 4, score, "names")
    kept = why_kept(found, "Jane", _policy(**members), builtin_detector().types, PrivacyMode.STANDARD)
    assert kept == why
    assert settings_that_keep(found, kept) == settings


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _reasons(file: Path) -> Counter[Reason]:
    lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    texts = {text for line in lines for text in _texts(json.loads(line))}
    return Counter(reason_of(each) for text in texts for each in builtin_detector().detect(text))


def test_every_finding_of_the_vectors_has_a_reason() -> None:
    found = sum(map(_reasons, (ROOT / "tests/vectors/detection").glob("*.json*")), Counter[Reason]())
    assert found.keys() == {Reason.PATTERN, Reason.CHECKED_PATTERN, Reason.LABEL}


@pytest.mark.parametrize("name", ["reports", "presidio_recognizers"])
def test_every_finding_of_the_shared_cases_has_a_reason(shared_data: Path, name: str) -> None:
    found = _reasons(shared_data / "cases" / f"{name}.cases.jsonl")
    assert found.keys() == {Reason.PATTERN, Reason.CHECKED_PATTERN, Reason.LABEL}
