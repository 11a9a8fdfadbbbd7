"""A text is read in blocks whose ends it decides itself."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.ner.blocks import CONTEXT, MAX_LENGTH, MIN_LENGTH, Block, blocks

WORDS = "the report of this quarter is in your mail and every figure has been checked twice by now".split()


def prose(seed: int, paragraphs: int = 60) -> str:
    chance = random.Random(seed)

    def paragraph() -> str:
        return " ".join(" ".join(chance.choices(WORDS, k=12)) + "." for _ in range(chance.randint(1, 8)))

    return "".join(paragraph() + chance.choice(["\n", "\n\n"]) for _ in range(paragraphs))


def parts(text: str) -> list[str]:
    return [text[one.first : one.last] for one in blocks(text)]


def check(text: str, found: list[Block]) -> None:
    assert "".join(text[one.start : one.end] for one in found) == text
    for one in found[:-1]:
        assert MIN_LENGTH <= one.end - one.start <= MAX_LENGTH
    for one in found:
        assert max(0, one.start - CONTEXT) <= one.first <= one.start
        assert one.end <= one.last <= min(len(text), one.end + CONTEXT)


@given(st.text(st.sampled_from("ab. \n\r\té\ud800😀"), min_size=2, max_size=20), st.integers(1, 2000))
def test_blocks_are_the_text(piece: str, times: int) -> None:
    text = piece * times
    check(text, list(blocks(text)))


@pytest.mark.parametrize("text", ["x" * 100_000, "\n" * 100_000, " " * 100_000, "\n \n" * 30_000, ". " * 50_000])
def test_hostile_texts_have_no_more_blocks_than_others(text: str) -> None:
    found = list(blocks(text))
    check(text, found)
    assert len(found) <= len(text) // MIN_LENGTH


def test_a_short_text_is_one_block() -> None:
    text = "x" * MAX_LENGTH
    assert list(blocks(text)) == [Block(0, len(text), 0, len(text))]


def test_blocks_end_with_a_paragraph_and_context_between_words() -> None:
    text = prose(1)
    for one in list(blocks(text))[:-1]:
        assert text[: one.end].endswith("\n\n")
        assert text[one.last].isspace()
        assert one.first == 0 or text[one.first - 1].isspace()


@pytest.mark.slow
@given(st.integers(0, 40), st.floats(0, 1), st.sampled_from(["A line more.\n", "word ", "\n\n", "", "x" * 400]))
def test_a_change_moves_only_the_blocks_around_it(seed: int, at: float, inserted: str) -> None:
    text = prose(seed, 300)
    place = int(at * len(text))
    changed = text[:place] + inserted + text[place + (0 if inserted else 40) :]
    assert len(set(parts(changed)) - set(parts(text))) <= 8
    assert len(parts(text)) > 30
