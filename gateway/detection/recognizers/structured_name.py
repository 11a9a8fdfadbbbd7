"""The halves of people's names in data and calls of programs: JSON, XML, LDIF, setters and named arguments. Their keys
are in `structured_name.toml`.

`first`, `last`, `family` and the like also name pages, fonts and much else: they count only next to the other half, and
if both values look like names.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import Expressions, read_toml, word_lists
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers.labelled_name import POSSIBLE_LABELS, SURE_LABELS, full_name, is_uncased
from gateway.detection.recognizers.person_name import NO_NAMES, PARTICLES, PERSON


class _Half(NamedTuple):
    start: int
    end: int
    family: bool
    sure: bool


KEYS = Expressions(read_toml(__file__)["keys"])
"""Keys of the halves of a name in data (RE2)."""
_WORDS = word_lists(__file__)
_NO_NAMES = (NO_NAMES | _WORDS["stand_ins"] | _WORDS["no_names"]) - PARTICLES
_REACH = 160
"""Bytes between the halves of a name."""
_LONGEST = 40
_NAMES = "|".join(KEYS.values())
# `"last": "…"`, `last='…'`, `setLast("…")`, `<last>…`, and at the start of a line `sn: …`.
# RE2 sees a boundary of words only next to ASCII.
_BEFORE = r"(?:\b|[_\"'<(\s,{:])(?:set_?|with_?)?"
# In FHIR, several given names are a list. SQL compares with `LIKE 'Quis%'`.
_AFTER = r"(?:[\"']?\s*(?::|=>?)\s*(?:\[\s*)?[\"']|\(\s*[\"']|>\s*|[\"']?\si?like\s'%?)"
# LDIF has two colons before base64.
_ON_LINE = r"(?m:^)[ \t]*"
# `"firstName": "名前"` translates a label.
_LABEL = compile_pattern(rf"(?i)\A(?:{SURE_LABELS}|{POSSIBLE_LABELS}|{_NAMES})\z")
# `lastName=…` without quotation marks, as programs print objects and send forms.
_BARE_END = r"(?:[,;)\]}&]|[ \t]*(?:\r?\n|\z))"
# By signs, which prose has few of: to look for the keys in all texts would slow down the search for everything else.
_PREFILTER = rf"(?i)(?::|=>?|\(|like\s)\s*[\"']|>|=[{LETTERS}]|{_ON_LINE}(?:{_NAMES}):{{1,2}}[ ]"
_ANY = compile_pattern(rf"(?i)(?:(?:{_NAMES})(?:{_AFTER}|=)|{_ON_LINE}(?:{_NAMES}):{{1,2}}[ ])[{LETTERS}]")
_VALUE = rf"([{LETTERS}]+(?:[ '\-][{LETTERS}]+)*)"
_END = r"(?:%?[\"']|\s*</|[ \t]*(?:\r?\n|\z))"
_FIELDS = tuple(
    (compile_pattern(rf"(?i)(?:{start}){_VALUE}{end}"), key)
    for key, names in KEYS.items()
    for start, end in (
        (rf"{_BEFORE}(?:{names}){_AFTER}|{_ON_LINE}(?:{names}):{{1,2}}[ ]", _END),
        (rf"{_BEFORE}(?:{names})=", _BARE_END),
    )
    # Without quotation marks, `nom` and `last` are of anything.
    if end is _END or not key.startswith("maybe")
)
_NEIGHBOUR = compile_pattern(rf"(?i)\b(?:{'|'.join(sorted(_WORDS['neighbours']))})[\"']?\s*[:=(>]")


def _find(normalized: NormalizedText, _: Sequence[int]) -> Iterator[Match]:
    halves = sorted(_halves(normalized)) if _ANY.search(normalized.data) else []
    for at, half in enumerate(halves):
        if half.sure:
            yield Match(half.start, half.end, 0.8, PERSON.name)
        elif any(
            _are_pair(normalized.data, half, other)
            for other in (*halves[max(0, at - 2) : at], *halves[at + 1 : at + 3])
        ):
            yield Match(half.start, half.end, 0.75, PERSON.name)


def _halves(normalized: NormalizedText) -> Iterator[_Half]:
    for field, key in _FIELDS:
        for found in field.finditer(normalized.data):
            start, end = found.span(1)
            sure = not key.startswith("maybe")
            if _is_name(normalized.text(start, end), sure=sure):
                yield _Half(start, end, key.endswith("family"), sure)


def _is_name(value: str, *, sure: bool) -> bool:
    """Returns whether a value has only words with capitals, or of a script without any, and none that is known to be no
    name. Long is one where the key leaves no doubt.
    """
    if _LABEL.search(value.encode()):
        return False
    if is_uncased(value):
        return len(value) == 1 or full_name(value) is not False
    words = value.split(" ")
    excluded = _WORDS["stand_ins"] if sure else _NO_NAMES
    return (
        2 <= len(value) <= _LONGEST
        and any(word[:1].isupper() for word in words)
        and not any(map(str.isdigit, value))
        and all(word[:1].isupper() or word in PARTICLES for word in words)
        and excluded.isdisjoint(map(str.lower, words))
    )


def _are_pair(data: bytes, half: _Half, other: _Half) -> bool:
    first, last = sorted((half, other))
    if half.family == other.family or last.start - first.end > _REACH:
        return False
    return other.sure or not _NEIGHBOUR.search(data, max(0, first.start - _REACH), min(len(data), last.end + _REACH))


RECOGNIZERS = (with_examples(__file__, "person.structured", (PERSON,), (_PREFILTER,), _find, by_label=True),)
