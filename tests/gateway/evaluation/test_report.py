"""The page is whole by itself, shows every disagreement, and cannot be made to do anything by the text it shows."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from gateway.evaluation.case_scoring import CasesScore, EntityScore
from gateway.evaluation.disagreements import Disagreement, Kind
from gateway.evaluation.figures import DocumentsScore, TypeScore
from gateway.evaluation.loader import GoldSpan
from gateway.evaluation.predictor import Finding
from gateway.evaluation.report import Evaluated, html_report

HOSTILE = "<script>alert(1)</script> \"><img src=x onerror=alert(2)> ' & \u202etxt.exe\u202c \x00 Jane Roe </pre>"


class Reader(HTMLParser):
    """Every tag with its attributes, and the text of the elements asked for."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "br"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag] = self.texts.get(tag, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def place(text: str, kind: Kind = Kind.MISSED, type_name: str = "PERSON", at: str = "Jane") -> Disagreement:
    start = text.index(at)
    end = start + len(at)
    span = GoldSpan(start, end + 4, "NAME")
    return Disagreement(kind, type_name, "d1", text, start, end, (span,), (Finding("X", start, end, 0.5, "r", True),))


def read(
    *places: Disagreement,
    name: str = "file.jsonl",
    title: str = "Title",
    types: dict[str, TypeScore] | None = None,
) -> tuple[str, Reader]:
    cases = CasesScore(entities={"KEY": EntityScore("KEY", 9, 8, 7, 6, 5, 4)})
    page = html_report(title, "how", [Evaluated(name, DocumentsScore(types=types or {}), cases, places)])
    reader = Reader()
    reader.feed(page)
    reader.close()
    return page, reader


def test_hostile_text_stays_text() -> None:
    page, reader = read(place(HOSTILE), name="<b>.jsonl", title="<i>", types={"<u>": TypeScore("<u>", 3, 4, 2)})
    assert {tag for tag, _ in reader.tags} == set(
        "html head meta title style body h1 h2 p strong mark form label select option output details summary article"
        " small pre br script table tr td".split()
    )
    assert len(reader.all("script")) == 1
    assert not any(name.startswith("on") or name in {"src", "href"} for _, found in reader.tags for name in found)
    assert "alert(1)" in reader.texts["pre"]
    assert "⟨U+202E⟩txt.exe⟨U+202C⟩ ⟨U+0000⟩" in reader.texts["pre"]
    assert "\u202e" not in page


def test_the_content_security_policy_lets_nothing_in_but_the_pages_own() -> None:
    page, reader = read(place("Ask Jane Roe."))
    policy = next(one["content"] for one in reader.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        source = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[0]
        digest = b64encode(sha256(source.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not any("style" in found for _, found in reader.tags)
    assert "://" not in page


def test_spans_are_marked_as_labelled_and_found() -> None:
    page, _ = read(place("Ask Jane Roe now."))
    assert 'Ask <mark class="f g here">Jane</mark><mark class="g"> Roe</mark> now.' in page


def test_places_are_grouped_by_type_the_worst_kind_first() -> None:
    _, reader = read(
        place("b Jane Roe", Kind.FALSE_ALARM),
        place("a Jane Roe", Kind.MISSED),
        place("c Jane Roe", Kind.BORDERS, "EMAIL"),
    )
    assert [one["data-group"] for one in reader.all("details") if "data-group" in one] == ["EMAIL", "PERSON"]
    assert [one["data-kind"] for one in reader.all("article")] == ["other borders", "missed", "false alarm"]
    chosen = [one["value"] for one in reader.all("option")]
    assert chosen == ["", "file.jsonl", "", "EMAIL", "PERSON", "", "false alarm", "missed", "other borders"]


def test_a_long_text_is_cut_around_the_place() -> None:
    _, reader = read(place("far " * 1000 + "Jane Roe" + " off" * 1000))
    shown = reader.texts["pre"]
    assert "Jane Roe" in shown
    assert len(shown) < 500
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_hidden_disagreements_are_counted() -> None:
    page, reader = read(*[place("Ask Jane Roe.")] * 260)
    assert len(reader.all("article")) == 250
    assert "file.jsonl: PERSON, missed: 10 more are not shown." in page


def test_nothing_to_show() -> None:
    _, reader = read()
    assert reader.all("article") == []


def test_the_figures_are_above() -> None:
    page, _ = read(types={"PERSON": TypeScore("PERSON", gold=4, found=3, exact=2)})
    assert "<tr><td>PERSON</td><td>4</td><td>3</td><td>66.7 %</td><td>50.0 %</td><td>57.1 %</td></tr>" in page
    assert "<tr><td>KEY</td><td>9</td><td>8</td><td>7</td><td>6</td><td>5</td></tr>" in page
