"""Particulars of chat completions; `contract` tests what the wire shares with the others."""

import copy

import pytest

from gateway.wires.chat_completions import WIRE
from tests.gateway.wires.contract.cases import CASES

TURNS = CASES["chat-completions"]["reads"]["turns"]


def test_an_earlier_turn_has_the_same_first_blocks() -> None:
    earlier = CASES["chat-completions"]["reads"]["earlier turns"]
    assert earlier["blocks"][:-1] == TURNS["blocks"][:2]


def test_a_mark_of_the_prompt_cache_is_no_text() -> None:
    for name in ("mark of the prompt cache", "mark of the prompt cache 1h"):
        assert CASES["chat-completions"]["reads"][name]["blocks"] == TURNS["blocks"]


@pytest.mark.parametrize("choices", [None, [], [7, {}], 7])
def test_every_choice_is_withheld(choices: object) -> None:
    answer = {"choices": copy.deepcopy(choices)}
    WIRE.refuse_answer(answer, "Withheld.")
    count = len(choices) if isinstance(choices, list) and choices else 1
    assert [each["message"]["content"] for each in answer["choices"]] == ["Withheld."] * count  # type: ignore[attr-defined]
