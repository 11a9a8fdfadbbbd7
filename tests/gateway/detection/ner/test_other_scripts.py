"""Names in scripts other than Latin, which only the student knows."""

import json
from pathlib import Path

import numpy as np
import pytest

from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.finder import NameFinder
from gateway.detection.ner.inference import Input, Logits
from gateway.detection.ner.spans import to_words
from tests.tables import table

CASES = table(__file__)

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "vectors" / "names" / "other_scripts.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def hidden(model: BuiltinModel, text: str) -> set[int]:
    return {at for one in NameFinder(model).detect(text) if one.type == "PERSON" for at in range(one.start, one.end)}


@pytest.mark.parametrize(("kind", "share"), [("announced", 0.8), ("narrative", 0.25)])
def test_names_are_found(model: BuiltinModel, kind: str, share: float) -> None:
    """Most that are announced ("my name is", a signature, a form), and few of the others, which leak as before."""
    found = total = 0
    for row in (row for row in ROWS if row["kind"] == kind):
        text, name = row["text"], row["names"][0]
        start = text.index(name)
        total += 1
        found += hidden(model, text) >= {at for at in range(start, start + len(name)) if text[at] != " "}
    assert found >= share * total


def test_texts_without_names_have_few_findings(model: BuiltinModel) -> None:
    clean = [row for row in ROWS if not row["names"]]
    assert sum(bool(hidden(model, row["text"])) for row in clean) <= 0.2 * len(clean)


@pytest.mark.parametrize("label", ["O", "I-PERSON"])
def test_the_transformer_decides_about_no_letter(
    model: BuiltinModel, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    """For any answer the same letters are hidden. The model may be asked about marks and Latin words next to them."""
    labels = json.loads((MODEL / "labels.json").read_text("utf-8"))
    sure = 20 * np.eye(len(labels), dtype=np.float32)[labels.index(label)]

    def answer(window: Input) -> Logits:
        return np.tile(sure, (len(window.ids), 1))

    def letters() -> list[set[int]]:
        return [{at for at in hidden(model, row["text"]) if row["text"][at].isalpha()} for row in ROWS]

    expected = letters()
    monkeypatch.setattr(model, "_logits_of", answer)
    assert any(expected)
    assert letters() == expected


@pytest.mark.parametrize(("text", "part", "word"), CASES["words_end_where_the_script_ends_them"])
def test_words_end_where_the_script_ends_them(text: str, part: str, word: str) -> None:
    start = text.index(part)
    first, last = to_words(text, start, start + len(part))
    assert text[first:last] == word
