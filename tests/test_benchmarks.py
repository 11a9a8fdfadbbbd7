"""The measuring tools run and measure what they say; how fast anything is, no test says."""

import json
import os
import random
import re
import sys
from pathlib import Path

import pytest

from benchmarks import clean_text, detection, figures, isolation, load
from benchmarks.detection_texts import HOSTILE, ORDINARY
from benchmarks.texts import chats, conversation


@pytest.mark.parametrize("make", [*ORDINARY.values(), *HOSTILE.values()], ids=[*ORDINARY, *HOSTILE])
def test_a_text_has_the_size_asked_for_and_is_the_same_every_time(make: detection.Maker) -> None:
    for size in (1024, 5000):
        assert len(make(size)) == size
        assert make(size) == make(size)


def test_a_text_of_many_bytes_a_character_is_cut_to_size() -> None:
    text = detection.cut("ä" * 1000, 1000)
    assert len(text.encode()) == 1000


def test_no_two_chats_have_a_sentence_or_a_value_in_common() -> None:
    texts = [json.loads(chat)["messages"][0]["content"] for chat in chats(5000, 100, "echo")]
    texts += [each["content"] for each in json.loads(conversation(20, 512, "echo", random.Random(1))[-1])["messages"]]
    sentences = [part for text in texts for part in re.split(r"(?<=[.?])\s", text)[:-1]]
    values = [value for text in texts for value in re.findall(r"\S+@\S+|\+49 30 \d{7}", text)]
    assert len(sentences) > 100 * 40
    assert len(values) > 100 * 2
    assert len(set(sentences)) == len(sentences)
    assert len(set(values)) == len(values)


def test_detection_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    cores = os.sched_getaffinity(0) if sys.platform == "linux" else None
    detection.main(["--only", "sizes", "--largest", "0.001", "--rounds", "1", "--json", str(file)])
    assert cores is None or os.sched_getaffinity(0) == cores
    cells = json.loads(file.read_text("utf-8"))["cells"]
    assert [(cell["text"], cell["kb"]) for cell in cells] == [("prose", 1.0), ("dense", 1.0)]
    assert all(cell["ms_per_kb"] > 0 for cell in cells)
    assert cells[1]["findings"] > 5
    assert "dense" in capsys.readouterr().out


@pytest.mark.slow
def test_the_model_of_names_is_measured_with_new_messages_and_seen_ones(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    detection.main(["--only", "model", "--rounds", "1", "--json", str(file)])
    rows = json.loads(file.read_text("utf-8"))["model"]
    assert [row["kb"] for row in rows] == [1, 10]
    assert all(row["new_ms"] > row["patterns_ms"] > 0 and row["new_ms"] > row["seen_ms"] for row in rows)


@pytest.mark.slow
def test_the_yardstick_gets_the_texts_and_is_set_beside_ours(tmp_path: Path) -> None:
    """The test uses an interpreter of our own in place of one that has Presidio."""
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport json, sys\nwanted = json.load(sys.stdin)\n"
        "ms = {name: float(len(text)) for name, text in wanted['texts'].items()}\n"
        "print(json.dumps({'version': '0', 'sets': {'all': {'recognizers': 3, 'ms': ms}}}))\n"
    )
    python.chmod(0o700)
    file = tmp_path / "figures.json"
    words = ["--only", "", "--rounds", "1", "--presidio-kb", "1", "--json", str(file), "--presidio", str(python)]
    detection.main(words)
    rows = json.loads(file.read_text("utf-8"))["presidio"]["texts"]
    assert [row["text"] for row in rows] == list(ORDINARY)
    assert {row["ms_per_kb"] for row in rows} == {1024.0}
    assert all(row["times"] == pytest.approx(1024 / row["ours_ms_per_kb"]) for row in rows)


def test_clean_text_is_counted_by_value_and_listed_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "texts"
    (folder / "tests").mkdir(parents=True)
    line = "x = 1\nWrite to jane.roe@acme-mail.org, please. jane.roe@acme-mail.org\n"
    for name in ("a.py", "b.md", "c.bin", "tests/d.py"):
        (folder / name).write_text(line, encoding="utf-8")
    file = tmp_path / "found.json"
    clean_text.main([str(folder), "--json", str(file)])
    result = json.loads(file.read_text("utf-8"))
    assert result["bytes"] == 2 * len(line)
    [seen] = result["values"]
    wanted = {"type": "EMAIL_ADDRESS", "file": "a.py", "line": 2, "before": "Write to ", "times": 4, "files": 2}
    assert {name: seen[name] for name in wanted} == wanted
    assert "a.py:2 Write to jane.roe@acme-mail.org, please." in capsys.readouterr().out


def test_a_folder_without_text_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        clean_text.main([str(tmp_path)])
    assert end.value.code == 2


def test_the_page_has_a_place_for_the_figures() -> None:
    page = figures.PAGE.read_text("utf-8")
    assert page.count(figures.BEGIN) == page.count(figures.END) == 1
    assert page.index(figures.BEGIN) < page.index(figures.END)


def test_measurements_become_tables(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    detection.main(["--only", "sizes", "--largest", "0.001", "--rounds", "1", "--json", str(file)])
    result = json.loads(file.read_text("utf-8"))
    slow = {"part": "hostile", "text": "slow", "kb": 1.0, "ms_per_kb": 9.0, "of_prose": 7.5, "growth": 1.25}
    result["cells"].append(slow)
    written = figures.speed(result)
    assert "| prose | 1 |" in written
    assert "| slow | 9.000 | 7.5 | 1.25 |" in written
    assert "1 of\nthem take more than five times as long" in written


def test_figures_of_a_set_become_a_row_for_each_type() -> None:
    types = [
        {"type": "A", "gold": 4, "precision": 0.5, "recall": 0.25, "overlap_precision": 1.0, "overlap_recall": None},
        {"type": "B", "gold": 0, "precision": 0.0, "recall": None, "overlap_precision": 0.0, "overlap_recall": None},
    ]
    labels = [{"type": "A", "gold": 3, "hidden": 1}, {"type": "A", "gold": 1, "hidden": 1}]
    one = {"documents": {"types": types, "labels": labels}}
    written = figures.by_type({"standard": {"set": one}, "strict": {"set": one}}, "set")
    assert written.splitlines()[2:] == ["| A | 4 | 50.0 | 25.0 | 100.0 | – | 50.0 | 50.0 |"]


@pytest.mark.slow
def test_a_loaded_gateway_is_measured_from_inside_and_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "load.json"
    load.main(["--detection", "patterns", "--connections", "2", "--seconds", "1", "--json", str(file)])
    result = json.loads(file.read_text("utf-8"))
    assert result["requests"]["total"] > 0
    assert result["requests"]["errors"] == 0
    assert {"listeners"} <= result["loop_lag_ms"].keys() <= {"listeners", "gateway"}
    for spread in (result["healthz_ms"], *result["loop_lag_ms"].values()):
        assert 0 < spread["p50"] <= spread["p99"] <= spread["max"]
    assert "lag of the loop" in capsys.readouterr().out


@pytest.mark.slow
def test_response_times_are_compared(tmp_path: Path) -> None:
    assert isolation.auc([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert isolation.auc([3.0, 4.0], [1.0, 2.0]) == 1.0
    file = tmp_path / "figures.json"
    isolation.main(["--rounds", "3", "--detection", "patterns", "--json", str(file)])
    measured = json.loads(file.read_text("utf-8"))
    rows = [(row["kind"], row["beside"]) for row in (*measured["sessions"], *measured["texts"])]
    assert rows == [
        ("wrong token", "unknown id"),
        ("other owner", "unknown id"),
        ("sent by another", "new"),
        ("sent by itself", "new"),
    ]
    assert all(0 <= row["auc"] <= 1 and row["ratio"] > 0 for row in (*measured["sessions"], *measured["texts"]))
