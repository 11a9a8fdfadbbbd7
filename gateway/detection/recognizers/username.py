"""User names and handles, identified by context: "username: jdoe", "my GitHub handle is jdoe42", profile URLs.

Paths name accounts by their home folder.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import Expressions, read_toml, word_lists
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers._samples import with_examples

USERNAME = EntityType("USERNAME", "account", "The name of a person's account.")

_NO_NAMES, _PAGES, _SERVICES = word_lists(__file__).values()
_EXPRESSIONS = Expressions({**read_toml(__file__)["parts"], "letters": LETTERS})
_LABELLED, _VISIT, _MINE = _EXPRESSIONS.re2("labelled", "visit", "mine")
_DISTINCTIVE, _IN_CODE = _EXPRESSIONS.of_text("distinctive", "in_code", flags=re.IGNORECASE)


_SIGNS = frozenset({b":", b"=", b"=>", b">", b""})


def _labelled(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for place in _LABELLED.finditer(data):
        start, end = place.span(3)
        while data[end - 1 : end] in (b".", b"-"):
            end -= 1
        value = normalized.text(start, end)
        is_time = value.isdigit() or (value.isalpha() and value.istitle())
        if is_time and _is_visit(data, place.start() + place[0].startswith(b"_")):
            continue
        connector = place[1].strip(b" \t\"'*_`")
        sure = not place[0].lower().startswith(b"handle") and (
            connector in _SIGNS or _MINE.search(data, max(0, place.start() - 30), place.start()) is not None
        )
        score = _username_score(value, connector, sure=sure, quoted=bool(place[2]), after=data[end : end + 2])
        if score is not None:
            yield Match(start, end, score, USERNAME.name)


def _is_visit(data: bytes, label: int) -> bool:
    """Returns whether a label announces the time of a login, not the user: `Last login: Fri Nov 27`."""
    return data[label : label + 3].lower() == b"log" and _VISIT.search(data[max(0, label - 16) : label]) is not None


def _username_score(value: str, connector: bytes, *, sure: bool, quoted: bool, after: bytes) -> float | None:
    if (
        after[:1] in (b"(", b"[", b"{", b"@", b"\\", b"/")
        or after == b":/"
        or value.casefold().lstrip("@") in _NO_NAMES
        or len(value) < 3
    ):
        return None
    digits = sum(char.isdigit() for char in value)
    if digits < 2 and _IN_CODE.fullmatch(value):
        return None
    if digits == len(value) and digits < 5:
        return None
    sign = connector in _SIGNS or b"value=" in connector
    telling = value[0] == "@" or _DISTINCTIVE.search(value) is not None
    dotted = "." in value and not digits
    if not telling and not sure:
        return None
    if not sign and not telling:
        return 0.5 if after[:1] in (b"", b".", b",", b"!", b"\n", b")", b'"', b"'") else None
    if connector in (b"=", b"=>") and not quoted and not digits:
        return 0.35
    if dotted and not quoted and sign:
        return 0.5 if value.islower() and after[:1] != b"," else 0.35
    return 0.75 if telling else 0.55


def _profile(value: str) -> bool | None:
    return False if value.casefold() in _PAGES else None


def _account(value: str) -> bool | None:
    """Returns False for service accounts and placeholder names, None otherwise."""
    return False if value.casefold() in _SERVICES or _IN_CODE.fullmatch(value.replace("-", "")) else None


RECOGNIZERS = (
    with_examples(__file__, "username.labelled", (USERNAME,), (_EXPRESSIONS["prefilter"],), _labelled, by_label=True),
    *pattern_table(__file__, (USERNAME,), {"account": _account, "profile": _profile}),
)
