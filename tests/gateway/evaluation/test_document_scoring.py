"""Each way in which labels and findings can agree or not, as data; and the same figures as a scorer of its own."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.detection import builtin_detector
from gateway.evaluation.document_scoring import score_documents
from gateway.evaluation.labels import LabelMap
from gateway.evaluation.loader import Document, GoldSpan, read_lines
from gateway.evaluation.predictor import Predictor
from gateway.models import PrivacyMode
from tests.gateway.evaluation.words import Words, seeker

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "evaluation"
CASES: list[dict[str, Any]] = json.loads((VECTORS / "documents.json").read_text("utf-8"))
LABELS = LabelMap.parse(
    {
        "set": {
            "MAIL": {"common": "EMAIL_ADDRESS", "action": "redact"},
            "NAME": {"common": "PERSON", "action": "redact"},
            "PHONE": {"common": "PHONE_NUMBER", "action": "redact"},
            "WHEN": {"common": "DATE", "action": "keep"},
            "SKIP": {"common": "GROUP", "action": "ignore"},
            "*": {"common": "URL", "action": "optional"},
        }
    }
)


def labelled(case: dict[str, Any], text: str) -> Document:
    spans = [(text.index(value), text.index(value) + len(value), label) for label, value in case["labels"].items()]
    return Document(case["name"], text, tuple(GoldSpan(*one) for one in sorted(spans)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_document(case: dict[str, Any]) -> None:
    finder, text = Words.marked(case["text"])
    look = seeker(finder, PrivacyMode(case.get("mode", "standard")))
    only = case.get("only", ())
    score, disagreements = score_documents([labelled(case, text)], look, LABELS, "set", types=only)
    assert {name: getattr(score, name) for name in case["score"]} == case["score"]
    counts = {
        row.type: [row.gold, row.found, row.exact, row.gold_overlapped, row.found_overlapped]
        for row in score.types.values()
    }
    assert counts == case["types"]
    assert [[one.kind.value, one.type] for one in disagreements] == case["kinds"]


def test_ratios_that_have_nothing_to_divide_by_are_none() -> None:
    score, _ = score_documents([Document("a", "nothing", ())], seeker(Words({})), LABELS, "set")
    assert set(score.ratios.values()) == {None}


def test_advance_is_called_for_each_document() -> None:
    calls: list[int] = []
    documents = [Document(str(number), "nothing", ()) for number in range(3)]
    score_documents(documents, seeker(Words({})), LABELS, "set", advance=lambda: calls.append(1))
    assert len(calls) == 3


PAIRS = {"EMAIL": "EMAIL_ADDRESS", "PHONE": "PHONE_NUMBER", "IP_ADDRESS": "IP_ADDRESS", "PERSON": "PERSON"}


@pytest.fixture(scope="module")
def real() -> Predictor:
    return seeker(builtin_detector(), PrivacyMode.STANDARD)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["presidio_synth_v2.dev", "wikigold.all", "btc.dev"])
def test_the_same_figures_as_the_scorer_beside_the_data(
    shared_data: Path, tmp_path: Path, name: str, real: Predictor
) -> None:
    gold, scorer, map_file = (shared_data / one for one in (f"{name}.jsonl", "score.py", "label_map.json"))
    for needed in (gold, scorer, map_file):
        if not needed.is_file():
            pytest.skip(f"{needed.name} is not among the labelled data on this machine")
    with gold.open(encoding="utf-8") as lines:
        documents = read_lines(lines, 300).documents
    labels = LabelMap.parse(json.loads(map_file.read_text("utf-8")))
    section = labels.section(gold.name)
    score, _ = score_documents(documents, real, labels, section)
    plain, _ = score_documents(documents, real, LabelMap.parse({}), "")

    hidden = _score(scorer, tmp_path, documents, real, hidden_only=True)
    covered, _, precision, recall = plain.ratios.values()
    assert covered == pytest.approx(float(_after("recall_covered", hidden)), abs=6e-5)
    assert plain.required_touched / plain.required == pytest.approx(float(_after("touched", hidden)), abs=6e-5)
    assert precision == pytest.approx(float(_after("char P", hidden)), abs=6e-5)
    assert recall == pytest.approx(float(re.findall(r"char P \S+ R (\S+)", hidden)[0]), abs=6e-5)
    for label in score.labels.values():
        found = re.search(rf"^   {re.escape(label.label)} +n= *(\d+) covered (\S+) touched (\S+)$", hidden, re.M)
        assert found, label.label
        assert int(found[1]) == label.gold
        assert label.hidden / label.gold == pytest.approx(float(found[2]), abs=6e-5)
        assert label.touched / label.gold == pytest.approx(float(found[3]), abs=6e-5)

    pairs = {
        f"{'|'.join(one.label for one in score.labels.values() if one.type == common)}={ours}": common
        for common, ours in PAIRS.items()
        if any(one.type == common for one in score.labels.values())
    }
    assert pairs
    printed = _score(scorer, tmp_path, documents, real, *pairs)
    for pair, common in pairs.items():
        line = next(line for line in printed.splitlines() if line.startswith(f"   pair {pair}:"))
        figures = [float(one) for one in re.findall(r"(?:P|R|F1) (\d\.\d+)", line)]
        row = score.types[common]
        ours = [*row.ratios.values()][:-1]
        assert [one or 0.0 for one in ours] == pytest.approx(figures, abs=6e-5)
        assert f"(gold {row.gold}, pred {row.found})" in line


def _score(
    scorer: Path, folder: Path, documents: tuple[Document, ...], look: Predictor, *pairs: str, hidden_only: bool = False
) -> str:
    """Returns the scorer's output for the findings of `look`."""
    gold, predicted = folder / "gold.jsonl", folder / "predicted.jsonl"
    with gold.open("w", encoding="utf-8") as wanted, predicted.open("w", encoding="utf-8") as found:
        for one in documents:
            spans = [{"start": span.start, "end": span.end, "label": span.label} for span in one.spans]
            wanted.write(json.dumps({"id": one.id, "text": one.text, "spans": spans}) + "\n")
            spans = [
                {"start": each.start, "end": each.end, "label": each.type}
                for each in look.predict(one.text)
                if each.hidden or not hidden_only
            ]
            found.write(json.dumps({"id": one.id, "text": one.text, "spans": spans}) + "\n")
    command = [sys.executable, str(scorer), str(gold), str(predicted), *(("--pairs", *pairs) if pairs else ())]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _after(name: str, printed: str) -> str:
    found = re.search(rf"{re.escape(name)} (\S+)", printed)
    assert found
    return found[1]
