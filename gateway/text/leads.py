"""Says what announces a value of structured data, which detection searches with its announcement in front of it.

In `{"pin": 4711}` the key says what the number is. In `{"name": "pin", "value": 4711}`, the form of lists of settings,
header fields and form fields, a sibling does, and in `["mysql", "--password", "x"]` the program and its option.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from gateway.placeholders import Literal

_LABEL = re.compile(r"[^\W\d][\w .-]{0,47}\Z")
# Keys that say no more than that a value follows, and the siblings that name it, in the order of their weight.
_VALUES = frozenset({"value", "val", "text", "stringvalue", "numbervalue"})
_NAMES = tuple(
    form(name)
    for name in ("name", "key", "field", "label", "element", "selector", "jsonPath")
    for form in (str, str.lower, str.capitalize, str.upper)
)
# Precedes the name in a selector (CSS) or a path (JSONPath).
_SIGNS = "#.$"
_OPTION = re.compile(r"--?[A-Za-z][\w-]{0,47}\Z")
_WORD = re.compile(r"[\w./@-]{1,64}\Z")
_MOST_WORDS = 3
_BRACKET = re.compile(r"[\[\]{}]")


def lead(name: str) -> str:
    """Returns the prefix for searching the value of a name; empty if the name is not a label."""
    return f"{name}: " if _LABEL.match(name) else ""


def lead_beside(container: Any, key: Any) -> str:
    """Returns the prefix for searching `container[key]` that its siblings give; empty if they announce nothing."""
    if isinstance(container, dict):
        announced = _lead_in_pair(container) if isinstance(key, str) and key.lower() in _VALUES else ""
        return announced or (_lead_of_kind(container) if key == "value" else "")
    return _lead_in_command(container, key) if isinstance(container, list) and key else ""


def _lead_in_pair(pair: dict[str, Any]) -> str:
    said = (pair[name] for name in _NAMES if name in pair)
    return next((found for name in said if isinstance(name, str) and (found := lead(name.lstrip(_SIGNS)))), "")


def _lead_of_kind(pair: dict[str, Any]) -> str:
    """Returns the record up to the value, in the form that detection reads, for identifiers of FHIR (HL7): their `type`
    or their `system` says what they are.
    """
    kind = pair.get("type")
    codings = kind.get("coding") if isinstance(kind, dict) else None
    first = codings[0] if isinstance(codings, list) and codings else None
    said = {
        "text": kind.get("text") if isinstance(kind, dict) else kind,
        **({name: first.get(name) for name in ("display", "code")} if isinstance(first, dict) else {}),
        "system": pair.get("system"),
    }
    words = [f'"{name}": "{word}"' for name, word in said.items() if isinstance(word, str) and '"' not in word]
    return f'{{"identifier": [{{{", ".join(words)}, "value": "' if words else ""


def _lead_in_command(words: list[Any], at: int) -> str:
    """Returns the program and the option of an argument: `docker login -p `."""
    option = words[at - 1]
    if not (isinstance(option, str) and _OPTION.match(option)):
        return ""
    program = takewhile(
        lambda word: isinstance(word, str) and _WORD.match(word) and word[0] != "-", words[:_MOST_WORDS]
    )
    return f"{' '.join((*program, option))} "


def document_leads(document: str, literals: Sequence[Literal], names: Sequence[Literal]) -> list[str]:
    """Returns the lead of each literal of a JSON document: what its siblings say, or else the last name before it.

    Such a name applies to all items of a list. Names have no lead.
    """
    starts = [name.start for name in names]
    leads = ["", *(lead(name.value) for name in names)]
    named = set(starts)
    places: dict[int, tuple[Any, Any]] = {}
    if '"-' in document or any(name.value.lower() in _VALUES for name in names):
        places = {literal.start: (holder, at) for literal, holder, at in _placed(document, literals, named)}
    return [
        ""
        if literal.start in named
        else lead_beside(*places.get(literal.start, (None, None))) or leads[bisect_right(starts, literal.start)]
        for literal in literals
    ]


def _placed(document: str, literals: Sequence[Literal], names: set[int]) -> Iterator[tuple[Literal, Any, Any]]:
    """Yields the literals that are no names, with the object or list that holds each and its key or index there."""
    within: list[Any] = [[]]
    name, read = "", 0
    for literal in sorted(literals, key=lambda each: each.start):
        for bracket in _BRACKET.findall(document, read, literal.start):
            if bracket in "[{":
                inner: Any = [] if bracket == "[" else {}
                if isinstance(within[-1], list):
                    within[-1].append(inner)
                else:
                    within[-1][name] = inner
                within.append(inner)
            elif len(within) > 1:
                within.pop()
        read = literal.end
        container = within[-1]
        if literal.start in names:
            name = literal.value
        elif isinstance(container, list):
            container.append(literal.value)
            yield literal, container, len(container) - 1
        else:
            container[name] = literal.value
            yield literal, container, name
