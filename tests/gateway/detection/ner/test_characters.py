"""Characters are folded as BERT's normalizer does it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.normalizers import BertNormalizer

from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.characters import Characters
from tests.tables import table

CASES = table(__file__)

CHARACTERS = Characters(MODEL / "characters.json")
MOVING = json.loads((MODEL / "characters.json").read_text("ascii"))["moving"]
LIBRARY = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=True, lowercase=True)


@pytest.mark.parametrize(("text", "folded", "places"), CASES["places_are_those_in_the_text"])
def test_places_are_those_in_the_text(text: str, folded: str, places: list[int] | None) -> None:
    assert CHARACTERS.fold(text) == (folded, places)


@given(st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF, exclude_characters=MOVING), max_size=40))
def test_text_is_folded_as_by_the_library(text: str) -> None:
    folded, places = CHARACTERS.fold(text)
    beyond = [char for char in folded if char > "\uffff" or char == "\ufffd"]
    # White space stays as it is. A character whose folded form is beyond the Basic Multilingual Plane may be replaced.
    assert beyond or re.sub(f"[{CHARACTERS.spaces}]", " ", folded) == LIBRARY.normalize_str(text)
    assert places is None or (len(places) == len(folded) and places == sorted(places))
