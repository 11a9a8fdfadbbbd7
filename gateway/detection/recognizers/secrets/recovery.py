"""Finds recovery codes and the words of wallets. Rules: `recovery.toml`."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets._locator import table
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS

_EXPRESSIONS = Expressions({**read_toml(__file__)["parts"], **EXPRESSIONS})
_LABEL, _SEED = _EXPRESSIONS.re2("label", "seed")
_LINK, _NUMBERED_WORD, _DIGIT, _ROUND = _EXPRESSIONS.of_bytes("link", "counted_word", "digit", "round")
_NEXT_WORD, _TOKEN, _WORD = _EXPRESSIONS.of_bytes("next_word", "token", "word")
_NEXT, _TO_WORDS = _EXPRESSIONS.of_bytes("next", "to_words", flags=re.IGNORECASE)
_MOST_CODES = 64

_LENGTHS = (24, 21, 18, 15, 12)
_REACH = _LENGTHS[0] * 10


def _codes(normalized: NormalizedText) -> Iterator[Match]:
    for label in _LABEL.finditer(normalized.data):
        link = _LINK.match(normalized.data, label.end())
        if link is None:
            continue
        at = link.end()
        spans: list[tuple[int, int]] = []
        shape: list[int] = []
        known = False
        while len(spans) < _MOST_CODES and (code := _NEXT.match(normalized.data, at)) is not None:
            groups = re.split(rb"[\- ]", code[1])
            shape = shape or list(map(len, groups))
            sure = _is_code(code[1], groups, linked=bool(link[0]))
            # In a list, codes with the form of the first one count; with hyphens, even those of letters alone.
            alike = shape == list(map(len, groups)) and (len(groups) > 1 or _DIGIT.search(code[1]))
            if not (sure or alike):
                break
            known = known or sure
            spans.append(code.span(1))
            at = code.end()
        if known or (len(spans) > 1 and len(shape) > 1):
            for start, end in spans:
                yield Match(start, end, 0.75, checks.SECRET.name)


def _is_code(code: bytes, groups: Sequence[bytes], *, linked: bool) -> bool:
    """Figures among letters, or enough of them; no number of things, no word with a number."""
    if code.isdigit():
        return len(code) >= (5 if linked else 6) and _ROUND.fullmatch(code) is None
    digits = len(_DIGIT.findall(code))
    return digits > 0 and (len(groups) > 1 or digits >= 2) and not all(map(_NUMBERED_WORD.fullmatch, groups))


def _seeds(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    for label in _SEED.finditer(data):
        for spans in (_after(data, label.end()), _before(data, label.start()) if label[1] else []):
            if spans:
                yield Match(spans[0][0], spans[-1][1], 0.9, checks.SECRET.name)


def _after(data: bytes, at: int) -> list[tuple[int, int]]:
    """The spans of as many words as a phrase may have, the first from its number on: rather one too many."""
    link = _TO_WORDS.match(data, at)
    spans: list[tuple[int, int]] = []
    while link is not None and len(spans) < _LENGTHS[0]:
        first = spans[-1][1] if spans else link.end()
        word = _NEXT_WORD.match(data, first)
        if word is None or word[1].lower().decode() in WORDS["of_no_seed"]:
            break
        spans.append((first, word.end()))
    return spans[: _length(spans)]


def _before(data: bytes, end: int) -> list[tuple[int, int]]:
    tokens = list(_TOKEN.finditer(data, max(0, end - _REACH), end))
    spans = [token.span() for token in takewhile(lambda token: _WORD.fullmatch(token[0]), reversed(tokens))]
    return spans[: _length(spans)][::-1]


def _length(words: Sequence[object]) -> int:
    return next((length for length in _LENGTHS if length <= len(words)), 0)


RECOGNIZERS = (table("recovery", {"codes": _codes, "seeds": _seeds}),)
