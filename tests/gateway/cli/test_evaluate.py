"""`evaluate FILE…`, as the entry point calls it."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.support import Command

MAIL = "jane.roe@acme-mail.org"
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "d1",
        "text": f"Write to {MAIL}.",
        "spans": [{"start": 9, "end": 9 + len(MAIL), "label": "MAIL", "value": MAIL}],
    },
    {"id": "d2", "text": "Ask Xq Zzyv.", "spans": [{"start": 4, "end": 11, "label": "NAME"}]},
]
CASES: list[dict[str, Any]] = [
    {"id": "c1", "entity": "EMAIL_ADDRESS", "text": MAIL, "polarity": "positive", "expected_spans": [[0, len(MAIL)]]},
    {"id": "c2", "entity": "EMAIL_ADDRESS", "text": "logo@2x.png", "polarity": "negative", "expected_spans": []},
]
MAP = {
    "set": {
        "MAIL": {"common": "EMAIL", "action": "redact"},
        "NAME": {"common": "PERSON", "action": "redact"},
    },
    "findings": {"EMAIL_ADDRESS": "EMAIL"},
}


class Evaluate(Command):
    """Runs `evaluate …`."""

    def figures(self, *words: object) -> Any:
        status, reply = self.json(*words)
        assert status == 0
        return reply


@pytest.fixture
def evaluate(data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("SVC_DETECTION", "patterns")
    return Evaluate(data_dir, capsys, "evaluate")


def write(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "label_map.json").write_text(json.dumps(MAP), encoding="utf-8")
    return write(tmp_path / "set.dev.jsonl", DOCUMENTS)


def test_the_figures_of_documents(evaluate: Evaluate, documents: Path) -> None:
    result = evaluate.figures(documents)
    assert result["policy"]["id"] == "default"
    assert result["mode"] == "standard"
    [file] = result["files"]
    assert file["file"] == "set.dev.jsonl"
    score = file["documents"]
    counted = ("documents", "private_documents", "hidden_documents", "required", "required_hidden", "false_alarms")
    assert [score[name] for name in counted] == [2, 2, 1, 2, 1, 0]
    assert score["recall"] == 0.5
    mail = next(row for row in score["types"] if row["type"] == "EMAIL")
    assert (mail["precision"], mail["recall"], mail["f1"], mail["overlap_f1"]) == (1.0, 1.0, 1.0, 1.0)
    assert file["disagreements"] == {"missed": 1}


def test_the_figures_of_cases(evaluate: Evaluate, tmp_path: Path) -> None:
    [file] = evaluate.figures(write(tmp_path / "cases.jsonl", CASES))["files"]
    counts = {"positive": 1, "found": 1, "hidden": 1, "negative": 1, "left_alone": 1, "untouched": 1}
    assert file["cases"] == {"total": counts, "entities": [{"entity": "EMAIL_ADDRESS", **counts}]}
    assert "documents" not in file


def test_tables_name_figures_and_repeat_no_text(evaluate: Evaluate, documents: Path, tmp_path: Path) -> None:
    status, out = evaluate(documents, write(tmp_path / "cases.jsonl", CASES))
    assert status == 0
    assert "1 of the 2 with private spans fully hidden (50.0 %)" in out
    assert "1 positive cases: 100.0 % found" in out
    assert MAIL not in out + evaluate.errors
    assert "Zzyv" not in out + evaluate.errors


def test_the_page_is_for_its_owner_alone(evaluate: Evaluate, documents: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("older", encoding="utf-8")
    page.chmod(0o644)
    status, _ = evaluate(documents, "--html", page)
    assert status == 0
    assert "Zzyv" in page.read_text("utf-8")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.iterdir()) == ["data", "label_map.json", "page.html", "set.dev.jsonl"]


def test_labels_types_and_limit(evaluate: Evaluate, documents: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"set": {"*": {"common": "ANY", "action": "keep"}}}), encoding="utf-8")
    [kept] = evaluate.figures(documents, "--labels", other)["files"]
    assert (kept["documents"]["keep"], kept["documents"]["keep_touched"]) == (2, 1)
    [chosen] = evaluate.figures(documents, "--types", "EMAIL")["files"]
    assert [row["type"] for row in chosen["documents"]["types"]] == ["EMAIL"]
    assert chosen["documents"]["recall"] == 1.0
    [first] = evaluate.figures(documents, "--limit", 1)["files"]
    assert first["documents"]["documents"] == 1


def test_policy_and_mode(evaluate: Evaluate, tmp_path: Path) -> None:
    text = "See https://acme-site.org/a."
    file = write(tmp_path / "x.jsonl", [{"text": text, "spans": [{"start": 4, "end": 27, "label": "URL"}]}])
    strict_file = str(Path(__file__).parents[3] / "policies" / "strict.toml")
    ways: dict[str, list[str]] = {
        "standard": [],
        "strict mode": ["--mode", "strict"],
        "strict policy": ["--policy", "strict"],
        "file": ["--policy", strict_file],
    }
    recalls = {}
    for name, words in ways.items():
        [result] = evaluate.figures(file, *words)["files"]
        recalls[name] = result["documents"]["recall"]
    assert recalls == {"standard": 0.0, "strict mode": 1.0, "strict policy": 1.0, "file": 1.0}


def test_candidates_count_when_a_lower_score_is_asked_for(evaluate: Evaluate, tmp_path: Path) -> None:
    file = write(
        tmp_path / "x.jsonl", [{"text": "at 192.0.2.7 now", "spans": [{"start": 3, "end": 12, "label": "IP_ADDRESS"}]}]
    )
    ways: list[list[object]] = [[], ["--min-score", 0]]
    found = [evaluate.figures(file, *words)["files"][0]["documents"]["types"][0]["found"] for words in ways]
    assert found == [0, 1]


@pytest.mark.parametrize(
    ("content", "words", "status", "says"),
    [
        ("{}\n", [], 1, "x.jsonl: Line 1: it is no object with a `text`."),
        ('{"text": "Jane", "spans": [{}]}\n', [], 1, "x.jsonl: Line 1: a span has no `label`."),
        ("", ["--policy", "nowhere"], 2, "There is no such policy."),
        ("", ["--labels", "broken.json"], 1, "broken.json is not JSON."),
        ("", ["--labels", "absent.json"], 2, "absent.json: No such file or directory"),
        ("", ["--labels", "wrong.json"], 1, "wrong.json: set.NAME needs a `common` and an `action`"),
    ],
    ids=["not-a-document", "no-label", "no-policy", "map-not-json", "map-absent", "map-wrong"],
)
def test_unusable_input_is_named_and_not_repeated(
    evaluate: Evaluate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    words: list[str],
    status: int,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.jsonl").write_text(content, encoding="utf-8")
    Path("broken.json").write_text("{Jane", encoding="utf-8")
    Path("wrong.json").write_text('{"set": {"NAME": "Jane"}}', encoding="utf-8")
    assert evaluate("x.jsonl", *words) == (status, "")
    assert says in evaluate.errors
    assert "Jane" not in evaluate.errors
    given, out = evaluate("x.jsonl", *words, "--json")
    assert given == status
    assert says in json.loads(out)["error"]["message"]


def test_files_that_cannot_be_read_or_written_are_refused(evaluate: Evaluate, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    status, _ = evaluate(documents, "--html", tmp_path / "folder")
    assert (status, str(tmp_path / "folder") in evaluate.errors) == (2, True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["data", "folder", "label_map.json", "set.dev.jsonl"]
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe")
    for name, status, said in (("x", 1, " is not UTF-8."), ("none", 2, ": No such file or directory")):
        assert evaluate(tmp_path / f"{name}.jsonl") == (status, "")
        assert f"{name}.jsonl{said}" in evaluate.errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--limit", "0"], "must be a whole number from 1 to "),
        (["--limit", "x"], "must be a whole number from 1 to "),
        (["--min-score", "2"], "must be a number from 0 to 1"),
        (["--min-score", "x"], "must be a number from 0 to 1"),
        (["--mode", "loose"], "choose from"),
    ],
)
def test_wrong_options_are_misuse(
    evaluate: Evaluate, documents: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as end:
        evaluate(documents, *words)
    assert end.value.code == 2
    assert says in capsys.readouterr().err


def test_a_type_that_nothing_can_have_is_refused(evaluate: Evaluate, documents: Path) -> None:
    assert evaluate(documents, "--types", "EMAIL,NOPE") == (2, "")
    assert evaluate.errors.endswith("has type 2 of the list\n")
    # The first is a label's, the second that of what may be detected.
    assert evaluate(documents, "--types", "PERSON,CREDIT_CARD")[0] == 0


def test_a_page_without_a_folder_is_refused_before_the_work(
    evaluate: Evaluate, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def engines(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("gateway.cli.evaluate.all_engines", engines)
    page = tmp_path / "missing" / "page.html"
    assert evaluate(documents, "--html", page) == (2, "")
    assert evaluate.errors == f"{page}: No such file or directory\n"
