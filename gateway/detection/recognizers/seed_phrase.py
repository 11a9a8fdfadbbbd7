"""The words that open a wallet (BIP 39): 12 to 24 of them, after what people call them or before."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from gateway.detection.entropy import word_set
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers.assigned_secret import SECRET

_NAMES = (
    r"(?:(?:\b|_)(?:(?:seed|recovery|mnemonic|wallet|back-?up|wiederherstellungs|herstel)[ _\-]?"
    r"(?:phrase|words?|wörter|zin)|mnemonic|(?:wallet|bip-?39)[ _\-]?seed|(?:12|24|twelve|twenty-four)[ \-]words"
    r"|phrase (?:de récupération|secrète)|frase (?:semilla|secreta|di recupero|de recuper\S{2,5}))\b"
    r"|助记词|助記詞|(?:сид|мнемоническ|seed)\S{0,6}[ \-]фраз[аыуе])"
)
_LABEL = compile_pattern(rf"(?i)(\s(?:is|are|ist|sind)\s(?:my|our|the|meine?|unsere?)\s(?:[\w\-]{{1,20}}\s)?)?{_NAMES}")
_LINK = re.compile(
    r"[^\n:=]{0,40}?(?:[:=]|\b(?:is|are|ist|sind|est|es|è)\b|是|为|\n)[\s:\"'`*_(\[|>\-]{0,24}".encode(), re.IGNORECASE
)
_NEXT = re.compile(rb"[\s,;|*_>\"'`\-]{0,24}+(?:\d{1,2}[.):]?[\s|]{0,4})?([A-Za-z]{3,8})(?!\w)")
_TOKEN = re.compile(rb"\S+")
_WORD = re.compile(rb"[\"'`(*]{0,3}[A-Za-z]{3,8}[,\"'`)*]{0,3}")
_LENGTHS = (24, 21, 18, 15, 12)
_REACH = _LENGTHS[0] * 10
# Of the words of any sentence some, and of those of BIP 39 none.
_OF_SENTENCES = word_set(
    "the and for are was were has had not but with from your our his her its which been them who how why could should"
    " would might does did these those than some many"
)


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for label in _LABEL.finditer(data):
        for words in (_after(data, label.end()), _before(data, label.start()) if label[1] else []):
            if words:
                yield Match(words[0][0], words[-1][1], 0.9, SECRET.name)


def _after(data: bytes, at: int) -> list[tuple[int, int]]:
    """The spans of as many words as a phrase may have, the first from its number on: rather one too many."""
    link = _LINK.match(data, at)
    spans: list[tuple[int, int]] = []
    while link is not None and len(spans) < _LENGTHS[0]:
        first = spans[-1][1] if spans else link.end()
        word = _NEXT.match(data, first)
        if word is None or word[1].lower().decode() in _OF_SENTENCES:
            break
        spans.append((first, word.end()))
    return spans[: _length(spans)]


def _before(data: bytes, end: int) -> list[tuple[int, int]]:
    first = max(0, end - _REACH)
    tokens = list(_TOKEN.finditer(data, first, end))
    spans = [token.span() for token in takewhile(lambda token: _WORD.fullmatch(token[0]), reversed(tokens))]
    return spans[: _length(spans)][::-1]


def _length(words: Sequence[object]) -> int:
    return next((length for length in _LENGTHS if length <= len(words)), 0)


_seed = "legal winner thank year wave sausage worth useful legal winner thank yellow"
_listed = '", "'.join(_seed.split())

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.seed_phrase",
        (SECRET,),
        (f"(?i){_NAMES}",),
        _find,
        examples=(
            Example(f"My recovery phrase is: {_seed}", _seed),
            Example(f'mnemonic = "{_seed}"', _seed),
            Example(f"SEED_PHRASE={_seed}", _seed),
            Example(f'{{"seed_phrase": ["{_listed}"]}}', _listed),
            Example(f"Seed phrase: {_seed}, and the PIN is in the safe", _seed),
            Example(f"ok, {_seed} is my seed phrase", _seed),
            Example(f"сид-фраза: {_seed.title()}", _seed.title()),
        ),
        counter_examples=(
            "a seed phrase is: twelve words that your wallet shows you when you set it up for the first time today",
            "A secret phrase: people often choose lyrics quotes poems jokes names pets cities colors numbers",
            "This is my seed phrase.",
        ),
    ),
)
