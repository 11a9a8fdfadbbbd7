"""Finds recovery codes and the words of wallets. Rules: `recovery.toml`."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets._locator import table
from gateway.detection.recognizers.secrets._vocabulary import WORDS, compile_words

_LABEL = compile_words("(?i)<<recovery>>")
# From the label to its first code: a few words that hold no figure.
_LINK = re.compile(rb"[^\d:=\r\n]{0,40}(?:[:=]|\s(?:is|are|ist|sind|lautet|sont|est|son|es|sono|zijn)\b:?|\n)|(?=\s)")
# Text between two codes: signs, bullets, boxes, the number of a line, the word before the last one.
_NEXT = re.compile(
    r"(?:(?:[\s,;:|/`*\"'\[\](){}=#>&_+\-]|•|·|–|—){1,80}+|\d{1,2}(?:[.):]\s|\s?\|)|x\]"
    r"|(?:and|und|et|y|e|en|or|oder|ou|o)\s){0,8}+(\d{4} \d{4}(?! ?\d)|(?:[A-Za-z0-9]{4} ){7,15}[A-Za-z0-9]{4}"
    r"|[A-Za-z0-9]{2,12}(?:-[A-Za-z0-9]{3,12}){1,8}|[A-Za-z0-9]{4,12})(?![\w\-]|[.,]\d|\s?[%$])".encode(),
    re.IGNORECASE,
)
_MOST_CODES = 64
_NUMBERED_WORD = re.compile(rb"[A-Za-z]+\d{0,3}|\d+(?:[A-Za-z]{1,3}|x\d+)")
_DIGIT = re.compile(rb"\d")
_ROUND = re.compile(rb"\d{4}0|\d{3,}000")

_SEED = compile_words(r"(?i)(\s(?:is|are|ist|sind)\s(?:my|our|the|meine?|unsere?)\s(?:[\w\-]{1,20}\s)?)?<<seeds>>")
_TO_WORDS = re.compile(
    r"[^\n:=]{0,40}?(?:[:=]|\b(?:is|are|ist|sind|est|es|è)\b|是|为|\n)[\s:\"'`*_(\[|>\-]{0,24}".encode(), re.IGNORECASE
)
_NEXT_WORD = re.compile(rb"[\s,;|*_>\"'`\-]{0,24}+(?:\d{1,2}[.):]?[\s|]{0,4})?([A-Za-z]{3,8})(?!\w)")
_TOKEN = re.compile(rb"\S+")
_WORD = re.compile(rb"[\"'`(*]{0,3}[A-Za-z]{3,8}[,\"'`)*]{0,3}")
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
