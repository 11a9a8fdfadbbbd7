"""Our tokenization is the library's, token for token, for every text."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.features import token_types
from gateway.detection.ner.word_pieces import WordPieces
from tests.chunkings import ALL
from tests.tables import table

CASES = table(__file__)

VECTORS = Path(__file__).parents[3] / "vectors"
OWN, LIBRARY = (
    WordPieces(MODEL / "tokenizer.json", MODEL / "characters.json"),
    Tokenizer.from_file(str(MODEL / "tokenizer.json")),
)
LIBRARY.no_truncation()
STORED = json.loads((MODEL / "characters.json").read_text("ascii"))
# Marks that stay may be in another order than in the library.
_CHARACTERS = st.characters(codec="utf-8", exclude_characters=STORED["moving"])
_ALPHABET = "abcdeXYZ 019.-_[]'\"\n\t\réÜßİıŁø€°×–…’\u00a0"
# In their combinations, other scripts differ most from one another.
_HARD = "".join((*(each[0] for each in STORED["marks"]), *STORED["folded"], "각갂한글日本\u200b\U0001f600"))


def agree(text: str) -> bool:
    """Whether our tokens are the library's."""
    encoding = LIBRARY.encode(text, add_special_tokens=False)
    return OWN.encode(text) == (encoding.ids, token_types(text, encoding.offsets), encoding.offsets)


def texts_of(file: Path) -> Iterator[str]:
    """Yields the lines of a file and the texts in them. The library reads no halves of characters."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        for text in (line, *(row.values() if isinstance(row, dict) else ())):
            if isinstance(text, str) and text.encode(errors="replace").decode() == text:
                yield text


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(VECTORS.rglob("*.jsonl")), ids=lambda file: str(file.relative_to(VECTORS)))
def test_vectors_have_the_librarys_tokens(file: Path) -> None:
    assert all(agree(text) for text in texts_of(file))


@pytest.mark.slow
def test_labelled_documents_have_the_librarys_tokens(shared_data: Path) -> None:
    for file in sorted(shared_data.glob("*.jsonl")):
        assert all(agree(text) for text in islice(texts_of(file), 0, None, 1 if ALL else 7)), file.name


@pytest.mark.slow
def test_every_character_has_the_librarys_tokens() -> None:
    """Alone, within a word, and next to itself. Ideographs, syllables and private characters are of one kind each."""
    alike = [(0x3400, 0xD800), (0xE000, 0xF900), (0x17000, 0x19000), (0x20000, 0x2F000), (0x30000, 0x110000)]
    codes = [*range(0x110000)]
    for first, end in reversed(alike):
        codes[first:end] = range(first, end, 1 if ALL else 97)
    codes = [code for code in codes if not 0xD800 <= code < 0xE000]
    for first in range(0, len(codes), 256):
        block = "\n".join(f"{c} a{c}b {c}{c}1" for c in map(chr, codes[first : first + 256]))
        assert agree(block), hex(codes[first])


@given(st.text(st.sampled_from(_ALPHABET) | _CHARACTERS, max_size=80))
def test_any_text_has_the_librarys_tokens(text: str) -> None:
    assert agree(text)


@given(st.text(st.sampled_from(_HARD) | st.sampled_from("ab .A"), max_size=40))
def test_text_of_characters_that_change_has_the_librarys_tokens(text: str) -> None:
    assert agree(text)


@given(st.lists(st.sampled_from(["[MASK]", "[CLS]", "[mask]", "a", " ", "\n", "\u0301", "é", "日"]), max_size=12))
def test_special_tokens_that_are_written_out_have_the_librarys_tokens(parts: list[str]) -> None:
    assert agree("".join(parts))


@pytest.mark.parametrize("text", CASES["odd_text_has_the_librarys_tokens"])
def test_odd_text_has_the_librarys_tokens(text: str) -> None:
    assert agree(text)


def test_half_a_character_is_read_without_an_error() -> None:
    assert OWN.encode("a \ud800 b")[2] == [(0, 1), (2, 3), (4, 5)]
