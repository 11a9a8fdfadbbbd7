"""The guard's vectors, streamed: what the guard keeps closed in a whole answer stays closed in a stream."""

from dataclasses import replace
from typing import Literal

import pytest

from gateway.exchange.answer_guard import AnswerGuard, Withheld
from gateway.exchange.streaming.channels import Channel
from gateway.guard import KINDS
from gateway.policy.document import GuardDocument
from gateway.text.answers import AnswerText
from tests.gateway.guard.vectors import Case, load_all

from .support import in_pieces

RULES = {
    "default": GuardDocument(),
    "redact all": GuardDocument.model_validate(dict.fromkeys(KINDS.values(), "redact")),
}
# Text that a script sends which comes after it: the script does not reach the client.
ENDED = {"script-that-reads-the-page"}
ACTIONS = ("pass", "flag", "redact", "replace")


def cases(kind: str) -> list[Case]:
    """Returns the cases with one part, without the findings of recognizers."""
    found = [case for case in load_all(kind) if len(case.parts) == 1]
    return [replace(case, context=replace(case.context, entities=())) for case in found if case.parts[0].kind != "data"]


def in_both_ways(case: Case, rules: GuardDocument, size: int) -> tuple[AnswerGuard, str, AnswerGuard, str, bool]:
    """The answer as a whole, with what the guard did to it; and as a stream, with whether the guard ended that."""
    whole, stream = AnswerGuard(case.context, rules), AnswerGuard(case.context, rules)
    kind: Literal["json", "text"] = "json" if case.parts[0].kind == "json" else "text"
    text = case.parts[0].text
    restored = whole.whole(AnswerText(None, "arguments" if kind == "json" else "text", text, kind))
    channel, given = Channel(stream, kind), ""
    try:
        for piece in in_pieces(text, size):
            given += channel.feed(piece)
        given += channel.finish()
    except Withheld:
        return whole, restored, stream, given, True
    return whole, restored, stream, given, False


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_harmful_answers(rules: str) -> None:
    harmful = cases("harmful")
    assert len(harmful) > 300
    for case in harmful:
        whole, restored, stream, given, ended = in_both_ways(case, RULES[rules], 7)
        values = [known.value for known in case.context.placeholders.entries()]
        if any(given.count(value) > restored.count(value) for value in values):
            assert ended, case.name
            assert case.name in ENDED
        # Values that are only flagged are found for the record, when the answer has ended.
        if whole.action != "flag":
            assert ended or ACTIONS.index(stream.action) >= ACTIONS.index(whole.action), case.name


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_harmless_answers(rules: str) -> None:
    harmless = cases("harmless")
    assert len(harmless) > 250
    for case in harmless:
        whole, restored, stream, given, ended = in_both_ways(case, RULES[rules], 7)
        assert (given, stream.action, ended) == (restored, whole.action, False), case.name
