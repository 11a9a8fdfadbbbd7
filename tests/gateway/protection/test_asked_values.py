"""A value whose label is the question before it: in the same text, in the message before, in the part before."""

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy import Policy
from gateway.protection.protector import Protector
from gateway.wires.chat_completions import WIRE

ASKED = [
    ("What is your SSN?", "536482917"),
    ("What is your password?", "Mittwoch7"),
    ("What is your date of birth?", "7 Sept 1991"),
    ("Can I have your phone number please?", "600 11 22 33"),
    ("What is your account number?", "88172635"),
    ("¿Cuál es su DNI?", "48291037B"),
    ("And the MRN?", "4471902"),
    ("The CVV?", "417"),
    ("Please paste the API token?", "Kp92xxVVq81LmmZ0"),
    ("Wie lautet Ihre Kundennummer?", "88172635"),
    ("What is your licence plate?", "KX19 ABC"),
    ("Booking code?", "HX88PL2"),
    ("Mother's maiden name?", "Hargreaves"),
    ("What is your user name?", "aschmidt"),
    ("What is the PIN?", "4471"),
]
NOTHING = [
    ("Which Python version do you use?", "3.12.4"),
    ("How many users?", "120 in 2024"),
    ("What is the order total?", "1,204.50"),
    ("Which port?", "8080"),
    ("What error do you see?", "Error 500 at line 1204 in app.py"),
    ("Anything else?", "No thanks, that is all"),
    ("Is the password rotation policy documented?", "Rotation happens every 90 days"),
    ("What is an access token?", "An access token is a string"),
    ("Have you changed the password?", "Yes, on 12 March 2024"),
    ("Can I reset my password?", "Go to Settings > Security2 and click Reset"),
]
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
