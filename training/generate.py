"""Generated training text: templates filled, strung together with what programs say, roughened; and lines of code."""

import random
import re
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from training.corpora import Document, Labelled, cut
from training.fill import Filler
from training.interfaces import said
from training.layouts import Layouts
from training.noise import join, noisy
from training.pools import LANGUAGE_CULTURES, lines

TEMPLATES = Path(__file__).parent / "templates"
# kind of English text -> weight and how likely it is written in small letters
ENGLISH = {
    "chat": (34, 0.35),
    "mail": (12, 0.1),
    "clinical": (12, 0.1),
    "forms": (12, 0.08),
    "legal": (6, 0.05),
    "code": (7, 0.08),
    "news": (12, 0.1),
    "prose": (12, 0.18),
    "wiki": (45, 0.04),
    "social": (34, 0.18),
    "negative": (30, 0.25),
}
LANGUAGES = {"en": 150, "es": 15, "de": 30, "fr": 16, "it": 13, "pt": 13, "nl": 14, "pl": 7, "tr": 7, "vi": 7}
# In other languages: how often a piece is what a program says, a layout, and a template without names.
SAID, LAID_OUT, NAMELESS = 0.17, 0.2, 0.25
# The same for English.
OF_ENGLISH = 0.3
CREDITS = re.compile(r"author|copyright|contribut|written by|thanks|[^\x00-\x7f]|@\w+\.\w|http", re.IGNORECASE)
NAMELIKE = re.compile(r"\b[A-Z][a-z]+ [A-Z][a-z]+")


@cache
def templates(name: str) -> tuple[str, ...]:
    """The templates of a file, one a line."""
    text = (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("##"))


@cache
def code_lines() -> tuple[str, ...]:
    """Lines of the interpreter's own library without anything that may be a person or a place."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    kept: list[str] = []
    for path in sorted(folder.glob("*.py")):
        if path.name in {"this.py", "antigravity.py", "site.py", "_sitebuiltins.py"}:
            continue
        source = path.read_text(encoding="utf-8", errors="replace").splitlines()
        kept += [s for s in source if 20 < len(s) < 140 and not CREDITS.search(s) and not NAMELIKE.search(s)]
    return tuple(kept)


def _code(chance: random.Random) -> Document:
    source = code_lines()
    start = chance.randrange(len(source) - 12)
    return Document("\n".join(source[start : start + chance.randint(1, 8)]), ())


def one(chance: random.Random) -> Document:
    """One generated document: one to four templates of one language, persons shared."""
    language = chance.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
    if language == "en":
        if chance.random() < 0.03:
            return _code(chance)
        kind, (_, careless) = chance.choices(list(ENGLISH.items()), [weight for weight, _ in ENGLISH.values()])[0]
        name = f"en.{kind}"
    else:
        name, careless = language, 0.18
    filler = Filler(chance, language)
    count = chance.choices((1, 2, 3, 4, 6), (46, 25, 13, 9, 7))[0]
    documents = []
    lead = Document("", ())
    if chance.random() < 0.12:
        lead = filler.fill(chance.choice(lines("prompts.txt")))
    for index in range(count):
        draw = chance.random()
        if language != "en":
            name = f"{language}.negative" if draw < NAMELESS else language
        elif index and draw < 0.3:
            name = f"en.{chance.choice(['chat', 'negative', 'news', 'mail' if name != 'en.wiki' else 'wiki'])}"
        share = 1.0 if language != "en" else OF_ENGLISH
        if draw > 1 - SAID * share:
            documents.append(said(language, chance, lambda: filler.people.person().full))
        elif draw > 1 - (SAID + LAID_OUT) * share:
            documents.append(Layouts(chance, language, filler).draw())
        else:
            documents.append(filler.fill(chance.choice(templates(name))))
    body = noisy(join(documents, chance.choice([" ", " ", "\n", "\n", "\n\n"])), chance, careless)
    return join([lead, body], "") if lead.text else body


def generated(count: int, seed: int) -> list[Document]:
    """``count`` documents; the same seed gives the same ones."""
    chance = random.Random(seed)
    return [one(chance) for _ in range(count)]


def _swap_person(old: str, cast: dict[str, str], filler: Filler) -> str:
    """Another name in the shape of the old one; who returns by one name keeps it."""
    if old in cast:
        return cast[old]
    person = filler.people.person()
    first, _, last = old.rpartition(" ")
    value = person.full if first else filler.chance.choice([person.first, person.last])
    cast |= {old: value} | ({first.split()[0]: person.first, last: person.last} if first else {})
    return value


def mentions(real: Sequence[Labelled]) -> dict[str, list[str]]:
    """Counts the names in the labelled text, by type: real places and bodies say more than composed ones."""
    found: dict[str, list[str]] = {}
    for document in (document for corpus in real for document in corpus.documents):
        for start, end, name in document.spans:
            if document.text[start].isalnum():
                found.setdefault(name, []).append(document.text[start:end])
    return found


def swapped(document: Document, chance: random.Random, known: dict[str, list[str]]) -> Document:
    """A labelled document with its names replaced by others of the same type, drawn or ``known``."""
    filler = Filler(chance, "en")
    cast: dict[str, str] = {}
    parts: list[Document] = []
    last = 0
    for start, end, name in sorted(document.spans):
        if start < last:
            return document
        parts.append(cut(document, last, start))
        value = old = document.text[start:end]
        if name == "PERSON":
            value = _swap_person(old, cast, filler)
        elif name == "LOCATION" and chance.random() < 0.7:
            other = chance.choice(known[name]) if chance.random() < 0.5 else filler.places.place()
            value = cast.setdefault(old, other)
        elif name == "ORGANIZATION" and chance.random() < 0.7:
            other = chance.choice(known[name]) if chance.random() < 0.5 else filler.places.org()
            value = cast.setdefault(old, other)
        if old.islower():
            value = value.lower()
        elif value.islower():
            value = value.title()
        parts.append(Document(value, ((0, len(value), name),)))
        last = end
    parts.append(cut(document, last, len(document.text)))
    return join(parts, "")


def labelled(real: Sequence[Labelled], chance: random.Random, other_names: float = 0.8) -> list[Document]:
    """One helping of the labelled text: by each corpus's share, often with other names, sometimes roughened."""
    helping: list[Document] = []
    known = mentions(real)
    for corpus in real:
        times = int(corpus.share * len(corpus.documents))
        for document in chance.sample(corpus.documents * (times // len(corpus.documents) + 1), times):
            changed = swapped(document, chance, known) if chance.random() < other_names else document
            changed = noisy(changed, chance, 0.12) if chance.random() < 0.7 else changed
            if chance.random() < 0.12:
                changed = join([changed, chance.choice(corpus.documents), chance.choice(corpus.documents)], "\n")
            helping.append(changed)
    return helping


assert set(LANGUAGES) <= set(LANGUAGE_CULTURES)
