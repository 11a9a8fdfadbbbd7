"""Particulars of the Anthropic wire; `contract` tests what it shares with the others."""

import copy
import json
from typing import ClassVar

import pytest

from gateway.wires.anthropic_messages import WIRE
from gateway.wires.base import Body
from tests.gateway.text.test_uuids import DRAWN
from tests.gateway.wires.contract.cases import CASES, protect

SIGNED = "Made1Up2" * 8 + "=="
READS = CASES["anthropic-messages"]["reads"]


def asked(*blocks: Body) -> Body:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": [*blocks]}]
    return {"model": "m", "max_tokens": 9, "messages": messages}


def call(value: str) -> Body:
    return {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": value}}


class TestThinking:
    """A signature is valid for the text that the provider wrote, and for no other."""

    BLOCK: ClassVar[Body] = {
        "type": "thinking",
        "thinking": "Ask [PERSON_7K2PQ] for [EMAIL_ADDRESS_AB12C].",
        "signature": SIGNED,
    }

    def test_placeholders_in_it_are_the_providers_own_words(self) -> None:
        found = WIRE.read(asked(self.BLOCK)).texts()
        assert not any("PERSON" in each or "EMAIL" in each for each in found)
        assert any(each.startswith("Ask ") and len(each) == len(self.BLOCK["thinking"]) for each in found)

    @pytest.mark.parametrize("recognizer", ["names", "email"])
    def test_it_is_left_as_it_is_or_out(self, recognizer: str) -> None:
        block = {**self.BLOCK, "thinking": "Ask the canary."}
        body = protect(WIRE, asked(block, call("canary")), recognizer=recognizer)
        kept = [block] if recognizer == "names" else []
        assert body["messages"][1]["content"] == [*kept, call("X")]

    def test_a_message_is_never_left_empty(self) -> None:
        body = protect(WIRE, asked({**self.BLOCK, "thinking": "canary"}))
        assert [each["type"] for each in body["messages"][1]["content"]] == ["text"]


class TestBlocks:
    """A block ends where an assistant's turn begins, so that the next turn repeats what was sent before."""

    def test_an_earlier_turn_has_the_same_first_blocks(self) -> None:
        assert READS["earlier turns"]["blocks"][:-1] == READS["turns"]["blocks"][:2]

    def test_counting_tokens_has_the_same_blocks(self) -> None:
        assert READS["counting"]["blocks"] == READS["turns"]["blocks"]

    def test_marks_and_billing_change_no_block_and_no_key(self) -> None:
        plain, marked = READS["no mark"], READS["marks and billing"]
        assert (plain["seed"], plain["opening"]) == (marked["seed"], marked["opening"])
        assert plain["blocks"][:-1] == marked["blocks"][:-1]
        body = copy.deepcopy(marked["request"])
        assert protect(WIRE, body) == marked["request"]


HASH = "9f86d081884c7d65" * 4


@pytest.mark.parametrize(
    ("user_id", "is_text"),
    [
        (f"user_{HASH}_account_{DRAWN}_session_{DRAWN}", False),
        (f"user_{HASH}_account__session_{DRAWN}", False),
        (json.dumps({"device_id": HASH, "account_uuid": "", "session_id": DRAWN}), False),
        (DRAWN, False),
        (f"user_{HASH}_account_anna_session_{DRAWN}", True),
        (json.dumps({"device_id": HASH, "session_id": "anna"}), True),
        (json.dumps({"device_id": HASH, "mail": DRAWN}), True),
        (json.dumps({"device_id": 4539578763621486}), True),
        ("anna", True),
        ("4539578763621486", True),
    ],
)
def test_only_drawn_ids_of_users_pass_unread(user_id: str, is_text: bool) -> None:
    read = WIRE.read({**asked(), "metadata": {"user_id": user_id}})
    assert any(text for field in read.blocks[-1] for text in field.texts) is is_text
