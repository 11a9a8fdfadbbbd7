"""Blocks and sentences: together with the white space between them they are the whole text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sharding.segmentation import BlockKind, blocks, sentences
from tests.tables import table

CASES = table(__file__)


def parted(text: str) -> list[str]:
    return [text[start:end] for block in blocks(text) for start, end in sentences(text, block)]


def kinds(text: str) -> list[list[Any]]:
    return [[block.kind.value, block.level] for block in blocks(text)]


@pytest.mark.parametrize("sentence", CASES["one_sentence_stays_one"])
def test_one_sentence_stays_one(sentence: str) -> None:
    assert parted(sentence) == [sentence]
    assert parted(f"First this. {sentence} Then that.") == ["First this.", sentence, "Then that."]


@pytest.mark.parametrize(("text", "expected"), CASES["borders"])
def test_borders(text: str, expected: list[str]) -> None:
    assert parted(text) == expected


@pytest.mark.parametrize(("text", "expected"), CASES["blocks"])
def test_blocks(text: str, expected: list[list[Any]]) -> None:
    assert kinds(text) == expected


def test_tables_and_code_are_one_piece() -> None:
    text = "```\nOne. Two. Three.\n```"
    assert [block.kind for block in blocks(text)] == [BlockKind.CODE]
    assert parted(text) == [text]


@given(st.text(alphabet=st.sampled_from("aB1 .!?。！「」|\t\n\r#-`:;,é\u3000\u2028"), max_size=120))
def test_nothing_is_lost_or_doubled(text: str) -> None:
    position = 0
    for block in blocks(text):
        assert block.start < block.end
        first = block.start
        for start, end in sentences(text, block):
            assert position <= start < end <= block.end
            assert not text[position:start].strip()
            assert text[start:end] == text[start:end].strip()
            assert start >= first
            position = end
        assert position == block.end
    assert not text[position:].strip()
