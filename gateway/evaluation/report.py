"""The disagreements as one HTML page to look through: grouped by type, filtered by file, type and kind.

The page holds labelled text and nothing else from outside: no scripts, styles or images but its own, which its content
security policy names by hash; everything is escaped, and what cannot be seen or turns the direction of writing is
spelled out.
"""

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import pairwise
from unicodedata import category

from gateway.evaluation.case_scoring import CasesScore
from gateway.evaluation.disagreements import Disagreement, Kind
from gateway.evaluation.figures import DocumentsScore
from gateway.evaluation.report_assets import SCRIPT, STYLE

_AROUND = 160
"""Characters of the text that are shown before and after the place."""
_LONGEST = 1200
_MOST = 250
"""Of one file, type and kind; the page says how many more there are."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came of one file."""

    name: str
    documents: DocumentsScore
    cases: CasesScore
    disagreements: Sequence[Disagreement]


def html_report(title: str, subtitle: str, files: Sequence[Evaluated]) -> str:
    """A whole HTML page. It repeats the labelled text: keep it as private as that."""
    groups: dict[str, list[str]] = defaultdict(list)
    shown: Counter[tuple[str, str, str]] = Counter()
    order = list(Kind)
    for file in files:
        for one in sorted(file.disagreements, key=lambda one: order.index(one.kind)):
            key = (file.name, one.type, one.kind.value)
            shown[key] += 1
            if shown[key] <= _MOST:
                groups[one.type].append(_place(file.name, one))
    more = {key: count - _MOST for key, count in shown.items() if count > _MOST}
    policy = f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'; base-uri 'none'"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}; form-action \'none\'">',
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">',
        f"<title>{_text(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{_text(title)}</h1><p>{_text(subtitle)}</p>",
        "<p><strong>This page repeats the labelled text. Keep it as private as that.</strong></p>",
        "<p>How to read it: <mark class=g>labelled</mark> <mark class=f>found and hidden</mark> "
        "<mark class=c>found, left in clear</mark> <mark class='g f'>labelled and hidden</mark></p>",
        *(_figures(file) for file in files),
        _filters(shown),
        *(f"<p class=more>{_text(_left_out(key, count))}</p>" for key, count in more.items()),
    ]
    for type_name, places in sorted(groups.items()):
        parts.append(f'<details open class=group data-group="{escape(type_name)}"><summary>{_text(type_name)} ')
        parts.append(f"<output>{len(places)}</output></summary>{''.join(places)}</details>")
    parts.append(f"<script>{SCRIPT}</script></body></html>\n")
    return "\n".join(parts)


def _hash(source: str) -> str:
    return "sha256-" + b64encode(sha256(source.encode()).digest()).decode()


def _figures(file: Evaluated) -> str:
    """The file's figures by type, or by entity where it holds cases."""
    rows: list[tuple[str, ...]] = []
    if file.documents.types:
        rows.append(("type", "labelled", "found", "precision", "recall", "F1"))
        for one in file.documents.types.values():
            ratios = (_percent(ratio) for ratio in (one.precision, one.recall, one.f1))
            rows.append((one.type, str(one.gold), str(one.found), *ratios))
    if file.cases.entities:
        rows.append(("entity", "positive", "found", "hidden", "negative", "left alone"))
        for case in file.cases.entities.values():
            counts = (case.positive, case.found, case.hidden, case.negative, case.left_alone)
            rows.append((case.entity, *map(str, counts)))
    cells = ("".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows)
    table = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<details class=figures><summary>{_text(file.name)}</summary><table>{table}</table></details>"


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def _left_out(key: tuple[str, str, str], count: int) -> str:
    return f"{key[0]}: {key[1]}, {key[2]}: {count} more are not shown."


def _filters(shown: Iterable[tuple[str, str, str]]) -> str:
    keys = list(shown)
    choices = {"file": {key[0] for key in keys}, "type": {key[1] for key in keys}, "kind": {key[2] for key in keys}}
    parts = ["<form>"]
    for name, values in choices.items():
        options = "".join(f'<option value="{escape(one)}">{_text(one)}</option>' for one in sorted(values))
        parts.append(f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label> ')
    parts.append("<output id=count></output></form>")
    return "".join(parts)


def _place(file: str, one: Disagreement) -> str:
    attributes = f'data-file="{escape(file)}" data-type="{escape(one.type)}" data-kind="{escape(one.kind)}"'
    said = [
        f"labelled {span.label}: {span.start}–{span.end}" for span in one.labelled if _near(one, span.start, span.end)
    ]
    said += [
        f"{'hidden' if each.hidden else 'in clear'} {each.type}: {each.start}–{each.end} "
        f"({each.score:.2f}, {each.recognizer})"
        for each in one.found
        if _near(one, each.start, each.end)
    ]
    return (
        f"<article {attributes}><h2>{_text(one.kind)} <small>{_text(file)} · {_text(one.document)}</small></h2>"
        f"<pre>{_marked(one)}</pre>"
        f"<p>{'<br>'.join(map(_text, said)) or 'nothing labelled, nothing found'}</p></article>"
    )


def _near(one: Disagreement, start: int, end: int) -> bool:
    return start < one.end and one.start < end


def _marked(one: Disagreement) -> str:
    first = max(0, one.start - _AROUND)
    last = min(len(one.text), one.end + _AROUND, one.start + _LONGEST)
    spans = [(span.start, span.end, "g") for span in one.labelled]
    spans += [(each.start, each.end, "f" if each.hidden else "c") for each in one.found]
    spans = [(max(start, first), min(end, last), kind) for start, end, kind in spans if start < last and first < end]
    borders = sorted({first, last, *(border for start, end, _ in spans for border in (start, end))})
    parts = ["… " if first else ""]
    for start, end in pairwise(borders):
        kinds = {kind for one_start, one_end, kind in spans if one_start <= start and end <= one_end}
        piece = _text(one.text[start:end])
        here = " here" if kinds and one.start <= start and end <= one.end else ""
        parts.append(f'<mark class="{" ".join(sorted(kinds))}{here}">{piece}</mark>' if kinds else piece)
    parts.append(" …" if last < len(one.text) else "")
    return "".join(parts)


def _text(value: str) -> str:
    return "".join(_visible(char) if _is_unseen(char) else char for char in escape(value))


def _is_unseen(char: str) -> bool:
    return char not in "\n\t" and category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def _visible(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"
