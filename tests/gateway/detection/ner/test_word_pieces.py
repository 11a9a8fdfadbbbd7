"""Our tokenization of Western text is the library's, token for token."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gateway.detection.ner.builtin import MODEL
from gateway.detection.ner.features import token_types
from gateway.detection.ner.word_pieces import WordPieces

VECTORS = Path(__file__).parents[3] / "vectors" / "names"
OWN, LIBRARY = WordPieces(MODEL / "tokenizer.json"), Tokenizer.from_file(str(MODEL / "tokenizer.json"))
_ALPHABET = "abcdeXYZ 019.-_[]'\"\n\t\réÜßİıŁø€°×–…’\u00a0"


def agree(text: str) -> bool:
    """Whether our tokens are the library's; also where the library has to read the text."""
    LIBRARY.no_truncation()
    encoding = LIBRARY.encode(text, add_special_tokens=False)
    plain = OWN.encode(text)
    return plain is None or plain == (encoding.ids, token_types(text, encoding.offsets), encoding.offsets)


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(VECTORS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_documents_have_the_librarys_tokens(file: Path) -> None:
    texts = [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()]
    assert all(agree(text) for text in texts)
    # The library is for other scripts and odd characters only.
    assert file.stem in {"other_scripts", "token_types"} or sum(
        OWN.encode(text) is None for text in texts
    ) <= 0.1 * len(texts)


@given(st.text(st.sampled_from(_ALPHABET) | st.characters(codec="utf-8"), max_size=80))
def test_any_text_has_the_librarys_tokens(text: str) -> None:
    assert agree(text)


@pytest.mark.parametrize("text", ["[MASK] it", "日本", "a\u0301", "a\u200bb", "a\x00b", "\ufeffa"])
def test_what_is_not_plain_is_left_to_the_library(text: str) -> None:
    assert OWN.encode(text) is None


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "a" * 100, "a" * 101, "Straße, naïve CAFÉ – “quoted” 5 €", "x [mask] y"]
)
def test_plain_text_is_read_here(text: str) -> None:
    assert OWN.encode(text) is not None
    assert agree(text)
