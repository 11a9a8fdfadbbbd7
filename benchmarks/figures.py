"""Writes the figures in docs/detection.md anew: labelled text, cases, clean text and speed, each with its command.

    python -m benchmarks.figures DATA [--speed FILE] [--write]

DATA is a folder of labelled text with its label_map.json (docs/evaluation.md says the format); every set in it is used,
those of cases from `cases/`; documents with and without the model of names. `--speed` names the JSON that
`benchmarks.detection` wrote. Without `--write` the section is printed.
"""

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "detection.md"
BEGIN, END = "<!-- figures: benchmarks/figures.py -->", "<!-- end of figures -->"
_MODES = ("standard", "strict")
_WAYS = ("patterns", "full")


def evaluate(files: Sequence[Path], *options: str) -> dict[str, Any]:
    """The figures that `run_proxy.py evaluate` prints, by name of file."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "run_proxy.py", "evaluate", *map(str, files), *options, "--json"]
        command += ["--data-dir", folder]
        printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {one["file"].removesuffix(".jsonl"): one for one in json.loads(printed)["files"]}


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f}"


def of(part: int, whole: int) -> str:
    return "–" if not whole else f"{part} of {whole} ({100 * part / whole:.1f} %)"


def by_type(found: dict[str, dict[str, Any]], name: str) -> str:
    """Precision and recall of each type that a set labels, and the share of whole spans hidden in each mode."""
    rows = []
    for row in found["standard"][name]["documents"]["types"]:
        if row["gold"]:
            ratios = (row["precision"], row["recall"], row["overlap_precision"], row["overlap_recall"])
            hidden = (_hidden(found[mode][name]["documents"]["labels"], row["type"]) for mode in _MODES)
            rows.append((row["type"], str(row["gold"]), *map(percent, ratios), *map(percent, hidden)))
    return table((name, "labelled", "P", "R", "P~", "R~", "hidden", "hidden, strict"), rows)


def _hidden(labels: Iterable[dict[str, Any]], kind: str) -> float:
    chosen = [one for one in labels if one["type"] == kind]
    return float(sum(one["hidden"] for one in chosen) / sum(one["gold"] for one in chosen))


def by_set(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    rows = []
    for way, modes in found.items():
        for mode, sets in modes.items():
            for name, one in sets.items():
                score = one["documents"]
                rows.append(
                    (
                        name,
                        way,
                        mode,
                        of(score["hidden_documents"], score["private_documents"]),
                        of(score["required_hidden"], score["required"]),
                        of(score["keep_touched"], score["keep"]),
                        of(score["false_alarms"], score["hidden_spans"]),
                    )
                )
    titles = ("set", "detection", "mode", "documents fully hidden", "private spans hidden", "spans to keep touched")
    return table((*titles, "false alarms"), sorted(rows))


def by_case(found: dict[str, dict[str, Any]], candidates: dict[str, Any]) -> str:
    rows = []
    for name, one in found["standard"].items():
        total, any_score = one["cases"]["total"], candidates[name]["cases"]["total"]
        strict = found["strict"][name]["cases"]["total"]
        rows.append(
            (
                name.removesuffix(".cases"),
                of(any_score["found"], total["positive"]),
                of(total["found"], total["positive"]),
                of(total["hidden"], total["positive"]),
                of(strict["hidden"], total["positive"]),
                of(total["left_alone"], total["negative"]),
                of(total["untouched"], total["negative"]),
            )
        )
    titles = ("cases", "found, any score", "found", "hidden", "hidden, strict", "left alone", "untouched")
    return table(titles, rows)


def clean_text() -> str:
    """Returns what would be hidden in the standard library's sources, by default and by patterns alone."""
    from benchmarks.clean_text import MB, per_mb, search
    from gateway.cli.engines import all_engines
    from gateway.config.settings import BUILTIN_POLICIES, Settings
    from gateway.evaluation.predictor import Predictor
    from gateway.models import PrivacyMode
    from gateway.policy.registry import PolicyRegistry
    from gateway.protection.protector import Protector

    policy = PolicyRegistry(BUILTIN_POLICIES).get("default")
    file = ROOT / "tests" / "vectors" / "detection" / "clean_text_right.json"
    known = set(json.loads(file.read_text("utf-8")))
    rows: list[tuple[str, ...]] = []
    size = 0
    for way in ("full", "patterns"):
        engines = all_engines(Settings(detection=way))
        seeker = Predictor(Protector(engines, hash_key=bytes(32)), policy, PrivacyMode.STANDARD)
        seen, size = search([Path(sysconfig.get_path("stdlib"))], [".py", ".txt"], seeker)
        false = [one for one in seen if one.digest not in known]
        secrets, others = per_mb(false, size)
        in_code, findings = (
            sum(counts) * MB / size for counts in zip(*((f.in_code, f.times) for f in seen), strict=True)
        )
        name = f"{way} (default)" if way == "full" else way
        rows.append((name, f"{findings:.0f}", f"{in_code:.0f}", f"{secrets:.2f}", f"{others:.2f}"))
    titles = ("detection", "findings", "of them in code", "secrets", "other values")
    return (
        f"Python's standard library, {size / MB:.1f} MB of sources. Per MB: what would be hidden, how much of it in\n"
        "code (outside comments and strings), and the different values, less those that a person has found right\n"
        "(addresses of authors, examples). Most of what remains by default are names of authors, not reviewed.\n\n"
        + table(titles, rows)
    )


def speed(result: dict[str, Any]) -> str:
    cells = result["cells"]
    parts = ["One core, ms per KB:\n"]
    rows: list[tuple[str, ...]] = [
        (one["text"], f"{one['kb']:.0f}", f"{one['ms_per_kb']:.3f}") for one in cells if one["part"] != "hostile"
    ]
    parts.append(table(("text", "KB", "ms per KB"), rows))
    hostile = sorted((one for one in cells if one["part"] == "hostile"), key=lambda one: -one["of_prose"])
    if hostile:
        size = f"{hostile[0]['kb']:.0f} KB"
        slow = [one for one in hostile if one["of_prose"] > 5]
        parts.append(
            f"Texts made to be slow ({len(hostile)}, {size} each), against prose of the same size; {len(slow)} of\n"
            "them take more than five times as long. Growth is ms per KB against an eighth of the text: 1 is linear.\n"
        )
        chosen = slow or hostile[:5]
        rows = [
            (one["text"], f"{one['ms_per_kb']:.3f}", f"{one['of_prose']:.1f}", f"{one['growth']:.2f}") for one in chosen
        ]
        parts.append(table(("text", "ms per KB", "of prose", "growth"), rows))
    if result["talks"]:
        parts.append(
            "A conversation through protection and its memory (each turn brings two new messages: the first"
            " a system message and a question):\n"
        )
        rows = [
            (
                one["part"],
                f"{one['message_kb']:.1f}",
                f"{one['turn_1_ms']:.2f}",
                f"{one['turn_20_ms']:.2f}",
                f"{one['ratio']:.2f}",
            )
            for one in result["talks"]
        ]
        parts.append(table(("what", "KB a message", "turn 1, ms", "turn 20, ms", "ratio"), rows))
    if theirs := result.get("presidio"):
        parts.append(
            f"Beside presidio-analyzer {theirs['version']}, without a model: the recognizers it enables, all it has,"
            " and its engine with those it enables, as it is called:\n"
        )
        rows = [
            (
                one["text"],
                f"{one['set']} ({one['recognizers']})",
                f"{one['ms_per_kb']:.2f}",
                f"{one['ours_ms_per_kb']:.4f}",
                f"{one['times']:.0f}",
            )
            for one in theirs["texts"]
        ]
        parts.append(table(("text", "Presidio's recognizers", "theirs, ms per KB", "ours", "times"), rows))
    return "\n".join(parts)


def section(options: argparse.Namespace) -> str:
    data: Path = options.data
    sets = sorted(data.glob("*.dev.jsonl")) + sorted(data.glob("*.all.jsonl"))
    cases = sorted((data / "cases").glob("*.jsonl"))
    labels = ("--labels", str(data / "label_map.json"))
    found = {
        way: {mode: evaluate(sets, "--mode", mode, "--detection", way, *labels) for mode in _MODES} for way in _WAYS
    }
    patterns = ("--detection", "patterns", *labels)
    tried = {mode: evaluate(cases, "--mode", mode, *patterns) for mode in _MODES}
    candidates = evaluate(cases, "--min-score", "0", *patterns)
    version = subprocess.run(
        ["git", "log", "-1", "--format=%cs"], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    parts = [
        BEGIN,
        f"State of {version}, policy `default`. What the columns mean: [evaluation.md](evaluation.md). All of it is\n"
        "written by `python -m benchmarks.figures DATA --write`.\n",
        "### Labelled text\n",
        "    run_proxy.py evaluate DATA/*.jsonl --mode standard|strict --detection patterns|full\n",
        *(
            f"`{way}`, in percent, exact spans and by overlap (~):\n\n{by_type(found[way], name)}"
            for way in _WAYS
            for name in found[way]["standard"]
            if name.startswith("presidio")
        ),
        by_set(found),
        "### Cases\n",
        "    run_proxy.py evaluate DATA/cases/*.jsonl --labels DATA/label_map.json --detection patterns\n"
        "    ... --min-score 0 (any score), --mode strict\n",
        by_case(tried, candidates),
        "### Clean text\n",
        "    python -m benchmarks.clean_text --right tests/vectors/detection/clean_text_right.json"
        " --detection full|patterns\n",
        clean_text(),
    ]
    if options.speed:
        parts += ["### Speed\n", "    python -m benchmarks.detection --presidio PYTHON\n"]
        parts.append(speed(json.loads(options.speed.read_text(encoding="utf-8"))))
    return "\n".join([*parts, END])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--speed", type=Path, metavar="FILE", help="what `benchmarks.detection --json FILE` wrote")
    parser.add_argument("--write", action="store_true", help="into docs/detection.md")
    options = parser.parse_args(arguments)
    written = section(options)
    if not options.write:
        print(written)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + written + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
