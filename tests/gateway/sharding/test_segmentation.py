"""Blocks and sentences: together with the white space between them they are the whole text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sharding.segmentation import BlockKind, blocks, sentences


def parted(text: str) -> list[str]:
    return [text[start:end] for block in blocks(text) for start, end in sentences(text, block)]


def kinds(text: str) -> list[tuple[str, int]]:
    return [(block.kind.value, block.level) for block in blocks(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Berg and Mrs. Hill met at St. James.",
        "He lives in the U.S. and works for Acme Inc. in Ohio.",
        "It costs 3.50 euros, i.e. less than before.",
        "See No. 5, Fig. 2 and p. 12 of the file.",
        "J. K. Berg wrote it with A. Hill.",
        "Am 3. Mai kam Hr. Brandt mit ca. 20 Leuten, z.B. Herrn Kos.",
        "Die Frist endet am 24. Dezember.",
        "M. Moreau et Mme. Petit sont venus.",
        "El Sr. Vidal y la Sra. Ruiz viven en la Av. Mayor.",
        'She asked "really?" and went home.',
        "Wait... there is more of it.",
        "The address is www.example.org and nothing else.",
        "Version 1.2.3 is out.",
        "「はい。そうです。」と田中は言った。",
        "This line is wrapped by hand at the end of which it\ngoes on in the next.",
        "A long line that was wrapped somewhere near the seventieth column by\n- of all things - a dash.",
    ],
)
def test_one_sentence_stays_one(sentence: str) -> None:
    assert parted(sentence) == [sentence]
    assert parted(f"First this. {sentence} Then that.") == ["First this.", sentence, "Then that."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("In 2020. The year", ["In 2020.", "The year"]),
        ("我来了。你呢？好！", ["我来了。", "你呢？", "好！"]),
        ("वह आया। वह गया।", ["वह आया।", "वह गया।"]),
        ("Is it? (Yes.) Good.", ["Is it?", "(Yes.)", "Good."]),
        ("¿Quién es? ¡Soy yo!", ["¿Quién es?", "¡Soy yo!"]),
        ("One.\r\nTwo.", ["One.", "Two."]),
        ("Anna Berg\n12 Mill Lane\nLeeds", ["Anna Berg", "12 Mill Lane", "Leeds"]),
        ("Name: Anna\nBorn: 1980", ["Name: Anna", "Born: 1980"]),
        ("- one\n- two. Three.", ["- one", "- two.", "Three."]),
        ("10:15 Anna came\n10:20 Tom went", ["10:15 Anna came", "10:20 Tom went"]),
    ],
)
def test_borders(text: str, expected: list[str]) -> None:
    assert parted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n\ntext", [("heading", 1), ("paragraph", 0)]),
        ("Title\n=====\ntext", [("heading", 1), ("paragraph", 0)]),
        ("### Three\ntext", [("heading", 3), ("paragraph", 0)]),
        ("§ 3 Kündigung\n\nDie Frist.", [("heading", 3), ("paragraph", 0)]),
        ("GENERAL TERMS\n\nThe text.", [("heading", 2), ("paragraph", 0)]),
        ("Diagnosis:\nAll is well.", [("heading", 3), ("paragraph", 0)]),
        ("**Bold**\n\nThe text.", [("heading", 3), ("paragraph", 0)]),
        ("#hashtag is no heading", [("paragraph", 0)]),
        ("OK\n\nfine", [("paragraph", 0), ("paragraph", 0)]),
        ("```\na. B.\n\nc\n```\nafter", [("code", 0), ("paragraph", 0)]),
        ("~~~\nnever closed. Never.", [("code", 0)]),
        ("| a | b |\n| 1 | 2 |\ntext", [("table", 0), ("paragraph", 0)]),
        ("a\tb\n1\t2", [("table", 0)]),
        ("a;b;c\n1;2;3\n4;5;6", [("table", 0)]),
        ("a, b, and c\nd, e, and f", [("paragraph", 0)]),
        ("┌──┬──┐\n│ a │ b │\n└──┴──┘", [("table", 0)]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_blocks(text: str, expected: list[tuple[str, int]]) -> None:
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
