"""Prose for the student, without labels: manuals in ten languages as HTML, and WordNet's examples and glosses.

`folder` holds a folder for each language (`en`, `de`, …) with HTML files somewhere below, and `wordnet` with WordNet's
`data.*` files. [MODEL_CARD.md](MODEL_CARD.md) names the packages that the committed weights have read.
"""

import html
import random
import re
from collections.abc import Iterator
from pathlib import Path

from training.corpora import Document
from training.numbered import ORDER, Source

MOST = 3_000_000
"""Characters of each language at most, and of WordNet's examples and glosses."""
_LENGTHS = (300, 800, 2000, 3500)
_SHORTEST = 40
_NO_TEXT = re.compile(r"<(script|style|head|header|nav|aside)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_CODE = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:p|div|h\d|li|tr|table|ul|ol|dl|dt|dd|pre|br|section|title)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_BLANK = re.compile(r"[ \t]*\n[ \t]*\n\s*")


def plain(page: str, between: str) -> str:
    """The text of a page; blank lines become `between`."""
    parts = _CODE.split(_NO_TEXT.sub("", page))
    parts = [part if part[:4].lower() == "<pre" else re.sub(r"\s+", " ", part) for part in parts]
    text = html.unescape(_TAG.sub("", "".join(_BLOCK.sub("\n", part) for part in parts)))
    return _BLANK.sub(between, text).strip()


def stretches(text: str, chance: random.Random) -> Iterator[str]:
    """The text in pieces of whole lines."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + chance.choice(_LENGTHS))
        end = len(text) if end < 0 else end
        if len(piece := text[start:end].strip()) >= _SHORTEST:
            yield piece
        start = end + 1


def prose(folder: Path, seed: int = 11) -> Iterator[Source]:
    """All of it, in stretches."""
    chance = random.Random(seed)
    for number, language in enumerate(ORDER):
        files = sorted((folder / language).rglob("*.html"))
        chance.shuffle(files)
        size = 0
        for file in files:
            for piece in stretches(plain(file.read_text("utf-8"), chance.choice(("\n", "\n\n"))), chance):
                yield Source(Document(piece, ()), number)
                size += len(piece)
            if size > MOST:
                break
    sentences = sorted(set(_wordnet(folder / "wordnet")))
    chance.shuffle(sentences)
    size = 0
    while sentences and size < MOST:
        many = min(len(sentences), chance.choice((1, 2, 4, 8, 15)))
        piece = chance.choice((" ", " ", "\n")).join(_written(sentences.pop(), chance) for _ in range(many))
        yield Source(Document(piece, ()), ORDER.index("en"))
        size += len(piece)


def _wordnet(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("data.*")):
        for line in file.read_text("latin-1").splitlines():
            if not line.startswith("  ") and "|" in line:
                yield from (part.strip(' "') for part in line.partition("|")[2].split(";"))


def _written(sentence: str, chance: random.Random) -> str:
    if chance.random() < 0.7:
        sentence = sentence[:1].upper() + sentence[1:]
    return sentence + "." if sentence[-1:] not in ".!?" and chance.random() < 0.8 else sentence
