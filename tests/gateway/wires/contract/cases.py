"""The cases that every wire has to pass: one file a wire in `tests/vectors/wires/`, named like its id.

`path` is that of the requests, unless a case has its own. All other sections may be missing:

calls      method, path, and the path below a base URL, or null if the wire does not serve the call
texts      requests with the mark in each place that is text; structure and all else around it stays
positions  the same; values of every kind are recognized there
left_out   requests in which a place of the mark is left out, because its text cannot be replaced
settings   members that must be numbers
opaque     requests with the mark in members that look as if only the provider could read them
tools      a request with a `TOOL` and its `RESULT`, and how often the tool is named
files      requests with the mark in the name or address of a file
objects    requests with `{"NAME": 0}`, for which an object is put in
leaks      path and request, in which every string and key is exchanged for a private value
reads      request, and what is read of it: the texts by blocks, and every member that is not the default
refused    request, the field that the error names, and the path if it is another
answer     an answer: its texts (text, kind, choice, tool), what replacing and refusing them makes of it
answers    a request and an answer with the mark in every place that is restored
usage      answers, and the tokens that they report
shapeless  answers without a text
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gateway.models import Action
from gateway.text.fields import Span
from gateway.wires.base import Body, Wire, Wires
from gateway.wires.other_json import OTHER_JSON

MARK = "canary"
_FILES = sorted((Path(__file__).parents[3] / "vectors" / "wires").glob("*.json"))
CASES: dict[str, dict[str, Any]] = {file.stem: json.loads(file.read_text("utf-8")) for file in _FILES}
DISCOVERED = Wires.discover()


def wire_of(id: str) -> Wire:
    """Returns the wire that has these cases."""
    wire = OTHER_JSON if id == OTHER_JSON.id else DISCOVERED.named(id)
    assert wire is not None
    return wire


def cases(*sections: str) -> list[Any]:
    """Returns the cases of some sections as parameters: the wire, its path and the case."""
    return [
        pytest.param(wire_of(id), wires["path"], case, id=f"{id}: {name}")
        for id, wires in CASES.items()
        for section in sections
        for name, case in named(wires.get(section, {}))
    ]


def named(section: Any) -> Iterator[tuple[str, Any]]:
    """Yields the cases of a section with their names, or numbers."""
    yield from section.items() if isinstance(section, dict) else ((str(at), case) for at, case in enumerate(section))


def copied(body: Any) -> Any:
    """Returns a copy, since reading and protecting change a body."""
    return json.loads(json.dumps(body))


def planted(value: Any, text: str) -> Any:
    """Returns a copy with a text in the place of the mark, also in keys, documents and addresses."""
    if isinstance(value, dict):
        return {planted(name, text): planted(member, text) for name, member in value.items()}
    if isinstance(value, list):
        return [planted(member, text) for member in value]
    if not isinstance(value, str) or MARK not in value:
        return value
    if value[:1] in "{[":
        return json.dumps(planted(json.loads(value), text), ensure_ascii=False)
    return value.replace(MARK, quote(text) if value.startswith("https://") else text)


def filled(value: Any, members: Body) -> Any:
    """Returns a copy with an object in the place of `{"NAME": 0}`, also in documents."""
    if value == {"NAME": 0}:
        return members
    if isinstance(value, dict):
        return {name: filled(member, members) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(member, members) for member in value]
    return json.dumps(filled(json.loads(value), members)) if isinstance(value, str) and "NAME" in value else value


def place_of(value: Any) -> tuple[Any, ...] | None:
    """Returns the keys that lead to the mark."""
    if value == MARK:
        return ()
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next(((key, *inner) for key, member in members if (inner := place_of(member)) is not None), None)


def protect(wire: Wire, body: Body, path: str = "", *, recognizer: str = "test", mark: str = MARK) -> Body:
    """Replaces the mark wherever the wire finds it, as protection would."""

    def replace(span: Span, value: str, raw: str | None = None) -> str:
        return "X"

    for block in wire.read(body, path).blocks:
        for field in block:
            places = [text.find(mark) for text in field.texts]
            spans = [Span(at, at + len(mark), "CODE", Action.PLACEHOLDER, 1.0, recognizer) for at in places]
            field.apply([[span] if span.start >= 0 else [] for span in spans], replace)
    return body
