"""Distorts text as happens on its way: case, typing errors, lost marks, stray white space. Spans move along."""

import random
import unicodedata

from training.corpora import Document
from training.features import Span

NEIGHBOURS = {
    "a": "sq",
    "e": "wr",
    "i": "uo",
    "o": "ip",
    "n": "mb",
    "t": "ry",
    "s": "ad",
    "r": "et",
    "l": "k",
    "m": "n",
}
FOLDED = str.maketrans(
    {"đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ı": "i", "ß": "ss", "æ": "ae", "Æ": "Ae"}
)


def _map(document: Document, pieces: list[str]) -> Document:
    """A document whose character ``i`` became ``pieces[i]``."""
    places = [0]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    spans = tuple((places[a], places[b], name) for a, b, name in document.spans if places[b] > places[a])
    return Document("".join(pieces), spans, tuple((places[a], places[b]) for a, b in document.ignored))


def lower(document: Document) -> Document:
    return _map(document, [c.lower() for c in document.text])


def upper(document: Document) -> Document:
    return _map(document, [c.upper() for c in document.text])


def unmarked(document: Document) -> Document:
    """Letters without their marks, as on a foreign keyboard."""
    pieces = [
        "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)).translate(FOLDED)
        for letter in document.text
    ]
    return _map(document, pieces)


def lower_spans(document: Document, chance: random.Random) -> Document:
    """Some names in small letters within text that is otherwise written properly."""
    pieces = list(document.text)
    for start, end, _ in document.spans:
        if chance.random() < 0.6:
            pieces[start:end] = [c.lower() for c in pieces[start:end]]
    return _map(document, pieces)


def upper_spans(document: Document, chance: random.Random) -> Document:
    """Persons, or their last word, in capitals, as in forms and on the continent."""
    pieces = list(document.text)
    for start, end, name in document.spans:
        if name in {"PERSON", "ORGANIZATION", "ADDRESS", "LOCATION"} and chance.random() < 0.7:
            cut = document.text.rfind(" ", start, end) + 1 if name == "PERSON" and chance.random() < 0.5 else start
            cut = max(cut, start)
            pieces[cut:end] = [c.upper() for c in pieces[cut:end]]
    return _map(document, pieces)


def typos(document: Document, chance: random.Random, rate: float = 0.025) -> Document:
    """Letters lost, doubled, swapped for a neighbour."""
    pieces = list(document.text)
    for index, letter in enumerate(pieces):
        if letter.isalpha() and chance.random() < rate:
            draw = chance.random()
            if draw < 0.35:
                pieces[index] = ""
            elif draw < 0.6:
                pieces[index] = letter * 2
            else:
                pieces[index] = chance.choice(NEIGHBOURS.get(letter.lower(), letter))
    return _map(document, pieces)


def unpunctuated(document: Document) -> Document:
    """Commas, stops and apostrophes dropped outside of the spans."""
    inside = [False] * len(document.text)
    for start, end, _ in document.spans:
        inside[start:end] = [True] * (end - start)
    return _map(document, ["" if c in ",.!?'’" and not inside[i] else c for i, c in enumerate(document.text)])


def quoted(document: Document, chance: random.Random) -> Document:
    """Every line behind the same sign, as in replies, lists and damaged mail."""
    sign = chance.choice(["> ", "> ", "    ", "\t", "* ", "- ", "| ", "// ", "# ", "??? ", ">> "])
    pieces = [c + sign if c == "\n" else c for c in document.text]
    return _map(document, pieces) if chance.random() < 0.5 else join([Document(sign, ()), _map(document, pieces)], "")


def noisy(document: Document, chance: random.Random, chat: float) -> Document:
    """One document through the mill; ``chat`` is how likely careless writing is."""
    if chance.random() < 0.3:
        document = unmarked(document)
    if "\n" in document.text and chance.random() < 0.08:
        document = quoted(document, chance)
    draw = chance.random()
    if draw < chat:
        document = lower(document)
        if chance.random() < 0.4:
            document = unpunctuated(document)
    elif draw < chat + 0.04:
        document = lower_spans(document, chance)
    elif draw < chat + 0.10:
        document = upper_spans(document, chance)
    elif draw < chat + 0.12:
        document = upper(document)
    if chance.random() < (0.25 if draw < chat else 0.05):
        document = typos(document, chance)
    return document


def join(documents: list[Document], glue: str) -> Document:
    """Documents one after the other, ``glue`` between them."""
    text, spans, ignored = "", list[Span](), list[tuple[int, int]]()
    for document in documents:
        text += glue if text else ""
        base = len(text)
        spans += [(a + base, b + base, name) for a, b, name in document.spans]
        ignored += [(a + base, b + base) for a, b in document.ignored]
        text += document.text
    return Document(text, tuple(spans), tuple(ignored))
