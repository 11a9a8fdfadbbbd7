"""Writes tables as Markdown."""

from collections.abc import Sequence

from gateway.attachments.base import MOST_CHARACTERS, Reason, Refused


def table(rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table whose first row is the head. Rows may differ in length. Empty without rows."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    if width * len(rows) > MOST_CHARACTERS:
        raise Refused(Reason.TOO_LARGE)
    lines = [_line([*map(cell, row), *[""] * (width - len(row))]) for row in rows]
    return "\n".join([lines[0], _line(["---"] * width), *lines[1:]])


def cell(text: str) -> str:
    """Returns a text as the content of a cell."""
    lines = [line.strip() for line in text.splitlines()]
    return "<br>".join(line for line in lines if line).replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
