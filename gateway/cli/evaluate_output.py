"""Prints the figures of an evaluation as tables, and converts them to JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.evaluation.case_scoring import CasesScore, EntityScore
from gateway.evaluation.figures import DocumentsScore
from gateway.evaluation.report import Evaluated


def as_json(one: Evaluated) -> dict[str, Any]:
    """Returns all figures of a file and counts its disagreements by kind. Contains none of its text."""
    kinds = Counter(place.kind.value for place in one.disagreements)
    result: dict[str, Any] = {"file": one.name, "disagreements": kinds}
    if one.documents.documents:
        result["documents"] = _documents_json(one.documents)
    if one.cases.entities:
        result["cases"] = {
            "total": _counts(one.cases.total),
            "entities": [{"entity": row.entity, **_counts(row)} for row in one.cases.entities.values()],
        }
    return result


def _counts(row: EntityScore) -> Mapping[str, int]:
    return {name: count for name, count in asdict(row).items() if name != "entity"}


def _documents_json(score: DocumentsScore) -> dict[str, Any]:
    figures = {name: value for name, value in asdict(score).items() if name not in {"types", "labels"}} | score.ratios
    figures["types"] = [asdict(row) | row.ratios for row in score.types.values()]
    figures["labels"] = [asdict(row) for row in score.labels.values()]
    return figures


def show(files: Sequence[Evaluated]) -> None:
    """Prints a summary and tables for each file."""
    console = Console()
    for one in files:
        console.print(Text(f"\n{one.name}", style="bold"))
        if one.documents.documents:
            _show_documents(console, one.documents)
        if one.cases.entities:
            _show_cases(console, one.cases)


def _show_documents(console: Console, score: DocumentsScore) -> None:
    _, _, precision, recall = score.ratios.values()
    lines = (
        f"{score.documents} documents; {score.hidden_documents} of the {score.private_documents} with private spans "
        f"fully hidden ({_percent(score.hidden_documents, score.private_documents)})",
        f"{score.required_hidden} of {score.required} private spans wholly hidden "
        f"({_percent(score.required_hidden, score.required)}), {score.required_touched} at least in part",
        f"{score.keep_touched} of {score.keep} spans to keep touched ({_percent(score.keep_touched, score.keep)}), "
        f"{score.false_alarms} of {score.hidden_spans} hidden spans where nothing is labelled",
        f"letters and digits: precision {_ratio(precision)}, recall {_ratio(recall)}",
    )
    console.print(*lines, sep="\n", highlight=False)
    names = ("labelled", "found", "P", "R", "F1", "P~", "R~", "F1~")
    table = _table("Type", *map(_right, names), caption="In percent: exact spans, and by overlap (~)")
    for row in score.types.values():
        table.add_row(Text(row.type), str(row.gold), str(row.found), *map(_short, row.ratios.values()))
    console.print(table)
    table = _table("Label", "type", "should be", *map(_right, ("labelled", "hidden", "touched")))
    for one in score.labels.values():
        counts = (one.gold, one.hidden, one.touched)
        table.add_row(Text(one.label), Text(one.type), one.treatment.value, *map(str, counts))
    console.print(table)


def _show_cases(console: Console, score: CasesScore) -> None:
    total = score.total
    console.print(
        f"{total.positive} positive cases: {_percent(total.found, total.positive)} found, "
        f"{_percent(total.hidden, total.positive)} hidden",
        f"{total.negative} negative cases: {_percent(total.left_alone, total.negative)} left alone, "
        f"{_percent(total.untouched, total.negative)} untouched",
        sep="\n",
        highlight=False,
    )
    names = ("positive", "found", "hidden", "negative", "left alone", "untouched")
    table = _table("Entity", *map(_right, names))
    for row in score.entities.values():
        table.add_row(Text(row.entity), *map(str, _counts(row).values()))
    console.print(table)


def _table(first: str, *columns: str | Column, caption: str | None = None) -> Table:
    return Table(Column(first, overflow="fold"), *columns, box=box.SIMPLE, padding=(0, 1, 0, 0), caption=caption)


def _right(name: str) -> Column:
    return Column(name, justify="right", no_wrap=True)


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
