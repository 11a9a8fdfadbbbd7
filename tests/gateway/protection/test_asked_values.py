"""A value whose label is the question before it: in the same text, in the message before, in the part before."""

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.wires.chat_completions import WIRE
from tests.tables import table

CASES = table(__file__)

ASKED = CASES["asked"]
NOTHING = CASES["nothing"]
WAYS = ["{0}\n{1}", "{0}\n\n{1}", "Agent: {0}\nCustomer: {1}", "> {0}\n{1}", "**Lee:** {0}\r\n**Kim:** {1}"]


def crossing(protector: Protector, policy: Policy, *contents: object) -> list[str]:
    """Returns each message as it is sent, and asserts that an echo restores it."""
    body = {"model": "m", "messages": [{"role": "user", "content": content} for content in contents]}
    placeholders = Placeholders(b"k" * 32)
    blocks = WIRE.read(body).blocks
    texts = [text for block in blocks for slot in block for text in slot.texts]
    protector.protect(blocks, policy, PrivacyMode.STANDARD, placeholders)
    crossed = [text for block in blocks for slot in block for text in slot.protected()]
    assert [placeholders.restore(text, rules=RestoreScope("source")).text for text in crossed] == texts
    return crossed


@pytest.mark.parametrize(("question", "answer"), ASKED)
@pytest.mark.parametrize("way", WAYS)
def test_an_answer_in_the_same_text_is_hidden(
    protector: Protector, policy: Policy, way: str, question: str, answer: str
) -> None:
    (crossed,) = crossing(protector, policy, way.format(question, answer))
    assert answer not in crossed


@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_an_answer_in_the_next_message_is_hidden(
    protector: Protector, policy: Policy, question: str, answer: str
) -> None:
    crossed = crossing(protector, policy, f"Thank you.\n{question}", answer)
    assert answer not in crossed[1]
    assert crossing(protector, policy, f"Thank you.\n{question}", answer) == crossed


@pytest.mark.parametrize(("question", "answer"), NOTHING)
@pytest.mark.parametrize("way", ["{0}\n{1}", "**Lee:** {0}\r\n**Kim:** {1}"])
def test_answers_to_other_questions_are_left_alone(
    protector: Protector, policy: Policy, way: str, question: str, answer: str
) -> None:
    assert crossing(protector, policy, way.format(question, answer)) == [way.format(question, answer)]
    assert crossing(protector, policy, question, answer) == [question, answer]


def test_the_part_before_says_what_a_part_is(protector: Protector, policy: Policy) -> None:
    parts = [{"type": "text", "text": text} for text in ("My SSN is", "536482917", "My order is", "536482917 pieces")]
    crossed = crossing(protector, policy, parts)
    assert crossed[1].startswith("[US_SSN_")
    assert crossing(protector, policy, "My SSN is known.", "536482917 pieces")[1] == "536482917 pieces"


def test_a_long_text_is_no_answer(protector: Protector, policy: Policy) -> None:
    text = "4471 " + "pieces were delivered in the morning and signed for " * 4
    assert crossing(protector, policy, "What is the PIN?", text)[1] == text
