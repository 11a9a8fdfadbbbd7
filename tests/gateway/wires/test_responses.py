"""Particulars of the Responses wire; `contract` tests what it shares with the others."""

import pytest

from tests.gateway.wires.contract.cases import CASES

READS = CASES["responses"]["reads"]


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_an_earlier_turn_has_the_same_first_blocks(count: int) -> None:
    """A block ends where a turn of the model begins, so that the next turn repeats what was sent before."""
    whole, earlier = READS["turns"]["blocks"], READS[f"the first {count} of the turns"]["blocks"]
    flat = [text for block in earlier[:-1] for text in block]
    assert [text for block in whole for text in block][1 : len(flat) + 1] == flat
    assert earlier[1:-2] == whole[1 : len(earlier) - 2]


def test_structure_is_not_text() -> None:
    found = {text for block in READS["codex"]["blocks"] for text in block}
    assert "body" not in READS["codex"], "reading changes nothing"
    assert not {"auto", "medium", "completed", "reasoning.encrypted_content", "assistant", "message"} & found
    assert (
        not {"grammar", "final_answer", "function", READS["codex"]["request"]["input"][2]["encrypted_content"]} & found
    )
    assert {"Be brief.", "Look it up.", "q: me", "You are you.", "Commits.", "/srv/shop"} <= found
