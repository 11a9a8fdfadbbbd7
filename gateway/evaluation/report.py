"""Renders the disagreements as one HTML page, grouped by type and filtered by file, type and kind.

The page (`report.html`) loads nothing: its content security policy allows only its own style and script, by hash. All
text is escaped, and characters that are invisible or change the direction of writing are shown as code points.
"""

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from unicodedata import category

from jinja2 import Environment, FileSystemLoader

from gateway.evaluation.case_scoring import CasesScore
from gateway.evaluation.disagreements import Disagreement, Kind
from gateway.evaluation.figures import DocumentsScore
from gateway.evaluation.loader import GoldSpan
from gateway.evaluation.predictor import Finding

_AROUND = 160
"""Characters shown before and after the place of a disagreement."""
_LONGEST = 1200
_MOST = 250
"""Disagreements shown for each file, type and kind."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The results of one file."""

    name: str
    documents: DocumentsScore
    cases: CasesScore
    disagreements: Sequence[Disagreement]


def html_report(title: str, subtitle: str, files: Sequence[Evaluated]) -> str:
    """Returns a whole HTML page. It repeats the labelled text: keep it as private as that."""
    groups: dict[str, list[tuple[str, Disagreement, list[GoldSpan], list[Finding]]]] = defaultdict(list)
    counts: Counter[tuple[str, str, str]] = Counter()
    order = list(Kind)
    for file in files:
        for one in sorted(file.disagreements, key=lambda one: order.index(one.kind)):
            key = (file.name, one.type, one.kind.value)
            counts[key] += 1
            if counts[key] <= _MOST:
                labelled = [span for span in one.labelled if span.start < one.end and one.start < span.end]
                found = [each for each in one.found if each.start < one.end and one.start < each.end]
                groups[one.type].append((file.name, one, labelled, found))
    return _PAGE.render(
        title=title,
        subtitle=subtitle,
        files=files,
        filters={name: sorted({key[at] for key in counts}) for at, name in enumerate(("file", "type", "kind"))},
        omitted={key: count - _MOST for key, count in counts.items() if count > _MOST},
        groups=sorted(groups.items()),
        style=_read("report.css"),
        script=_read("report.js"),
    )


def _excerpt(one: Disagreement) -> Iterator[tuple[str, str]]:
    """The text around a disagreement in pieces, each with its CSS classes.

    `g` marks what is labelled, `f` what is found and hidden, `c` what is found and left in clear.
    """
    first = max(0, one.start - _AROUND)
    last = min(len(one.text), one.end + _AROUND, one.start + _LONGEST)
    spans = [(span.start, span.end, "g") for span in one.labelled]
    spans += [(each.start, each.end, "f" if each.hidden else "c") for each in one.found]
    spans = [(max(start, first), min(end, last), kind) for start, end, kind in spans if start < last and first < end]
    borders = sorted({first, last, *(border for start, end, _ in spans for border in (start, end))})
    if first:
        yield "… ", ""
    for start, end in pairwise(borders):
        classes = sorted({kind for one_start, one_end, kind in spans if one_start <= start and end <= one_end})
        if classes and one.start <= start and end <= one.end:
            classes.append("here")
        yield one.text[start:end], " ".join(classes)
    if last < len(one.text):
        yield " …", ""


def _visible(value: object) -> object:
    """Spells out characters that are invisible or change the direction of writing."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "".join(f"⟨U+{ord(char):04X}⟩" if _is_invisible(char) else char for char in value)


def _is_invisible(char: str) -> bool:
    return char not in "\n\t" and category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def _digest(source: str) -> str:
    return "sha256-" + b64encode(sha256(source.encode()).digest()).decode()


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    finalize=_visible,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {"digest": _digest, "excerpt": _excerpt, "percent": _percent}
_PAGE = _ENVIRONMENT.get_template("report.html")
