"""Identifiers with their kind next to them, in records of JSON and XML: `{"type": "passport", "value": "X1234567"}`.
FHIR and CDA write all identifiers in this way; `labelled_sibling.toml` has their codes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from gateway.detection.data_files import word_lists
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers.labelled_table import TYPES, Column, column_of

_VALUE = (
    r"""(?:["'](?:value|number|extension|id_?(?:value|number))["']\s*:\s*["']?|<(?:\w+:)?(?:value|number)>\s*"""
    r"""|\s(?:value|extension)=["'])((?:[A-Za-z]{0,4}[ \-]?)\d[\w ./\-]{2,39}?)\s*(?:["',}\]<]|$)"""
)
_PLACE = compile_pattern(_VALUE)
_KIND = re.compile(
    rb"""["'](?:code|text|display|system|type|kind|name|label|field|id_?type)["']\s*:\s*["']([^"'\n]{1,120})["']"""
    rb"""|<(?:\w+:)?(?:code|text|display|system|type|kind|name)(?:>\s*([^<>\n]{1,80})\s*<|[^<>]*\svalue="([^"]{1,120})")"""
    rb"""|\sroot="([\d.]+)"|<(?:\w+:)?(patientRole)\b"""
)

_TAG = re.compile(rb"<(?P<close>/?)[\w:]+[^<>]*?(?P<alone>/?)>")
_REACH = 600
_CODED = {code: name for name, codes in word_lists(__file__).items() for code in codes}
_GROUPS = frozenset({"government_id", "health", "account", "financial", "contact", "temporal"})
_TYPES = tuple(one for one in TYPES if one.group in _GROUPS and one.name != "USERNAME")
_NAMES = frozenset(one.name for one in _TYPES)


def _find(normalized: NormalizedText, _: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    column = cache(column_of)  # for this text alone, whose words must not stay in memory
    for place in _PLACE.finditer(data):
        first = _record(data, place.start())
        last = data.find(b">" if data[first : first + 1] == b"<" else b"}", place.end(1), place.end(1) + _REACH)
        for kind in _KIND.finditer(data, first, max(last, place.end(1))) if first >= 0 else ():
            name = next(filter(None, kind.groups())).decode("utf-8", "replace")
            coded = b"dentifier" in data[max(0, first - _REACH) : place.end()]
            found = _type(name, normalized.text(*place.span(1)), column, coded=coded)
            if found:
                yield Match(*place.span(1), 0.8, found)
                break


def _record(data: bytes, at: int) -> int:
    """Returns where the object or element begins that directly contains a place, or -1."""
    first, depth = max(0, at - _REACH), 0
    if data[at] in b"\"'":
        while (opens := data.rfind(b"{", first, at)) >= 0:
            closes = data.rfind(b"}", first, at)
            if not depth and closes < opens:
                return opens
            depth += 1 if closes > opens else -1
            at = max(opens, closes)
        return -1
    for tag in reversed(list(_TAG.finditer(data, first, at))):
        if not tag["alone"]:
            depth += 1 if tag["close"] else -1
            if depth < 0:
                return tag.start()
    return -1


def _type(kind: str, value: str, column_of: Callable[[str], Column | None], *, coded: bool) -> str | None:
    """Returns the type of a value from its kind: a code, or words as in the header of a column."""
    if kind in _CODED and (coded or len(kind) > 5):
        return _CODED[kind]
    last = re.split("[/:#]", kind)[-1]
    for words in dict.fromkeys((last, last.replace("-", " "), last.rpartition("-")[2])):
        column = column_of(words)
        if column is not None and column.type.name in _NAMES and column.check(value):
            return column.type.name
    return None


RECOGNIZERS = (with_examples(__file__, "labelled.sibling", _TYPES, (_VALUE,), _find, by_label=True),)
