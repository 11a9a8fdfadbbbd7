"""Text for the student, without labels: the transformer labels it (distil.py).

Half of it is generated as for the transformer. The rest is text in which hardly anybody is named and which agents send:
source code, manuals, configuration, schemas and translations from the installed packages, now and then with a name put
in.
"""

import random
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from training.fill import Filler
from training.generate import LANGUAGES, one
from training.interfaces import said

TECHNICAL = frozenset(
    ".py .pyi .md .rst .txt .json .yaml .yml .toml .cfg .ini .js .ts .html .css .sh .xml .h .c .cpp .csv .sql".split()
)
# Shares of the documents: generated, a stretch of a technical file, what programs say, a mix of two of them.
SHARES = {"generated": 52, "technical": 34, "said": 7, "mixed": 7}
PUT_IN = 0.3
"""Share of technical stretches with a name put in."""
_LARGEST = 2_000_000
_PROPRIETARY = ("nvidia", "cuda")
_FORMS = (
    "# TODO({first}): {words}",
    "# written by {person}, see the ticket",
    "// {person} asked for this",
    '"author": "{person}",',
    '"owner": {{"name": "{person}", "email": "{email}"}},',
    "  reviewer: {person}",
    "{first} <{email}>",
    "- {person}: {words}",
    "{date} INFO login of {person} from {place}",
    "Signed-off-by: {person} <{email}>",
    "> {first} wrote:",
    "user={user} name='{person}' city={place}",
    "Dear {first}, {words}",
    "company: {org}",
    "address: {street}, {place}",
)


@cache
def files() -> tuple[Path, ...]:
    """The technical files of the installed packages under free licences and the interpreter's library, a few hundred of
    each package.
    """
    paths = sysconfig.get_paths()
    roots = [Path(paths["purelib"]), Path(paths["stdlib"])]
    # The packages of development, if they are there, hold schemas, templates and scripts that ours do not.
    other = Path(__file__).parent.parent / ".venv" / "lib" / Path(paths["purelib"]).parent.name / "site-packages"
    kept: list[Path] = []
    chance = random.Random(3)
    for root in (*roots, other):
        for package in sorted(root.iterdir()) if root.is_dir() else ():
            if package.name.startswith(_PROPRIETARY):
                continue
            own = [package] if package.is_file() else sorted(package.rglob("*"))
            own = [file for file in own if file.suffix in TECHNICAL or file.name in {"METADATA", "Makefile"}]
            own = [file for file in own if "site-packages" not in file.relative_to(root).parts]
            kept += chance.sample(own, min(len(own), 400))
    return tuple(kept)


def _stretch(chance: random.Random) -> str:
    """A few hundred to three thousand characters of a technical file."""
    for _ in range(50):
        file = chance.choice(files())
        try:
            if not 200 < file.stat().st_size < _LARGEST:
                continue
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        length = chance.choice((400, 1000, 2000, 3000))
        start = chance.randrange(max(1, len(text) - length))
        start = text.find("\n", start, start + 400) + 1 or start
        return text[start : start + length]
    raise RuntimeError("no technical text could be read")


def _with_name(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    filler = Filler(chance, chance.choices(list(LANGUAGES), list(LANGUAGES.values()))[0])
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines) + 1)
        indent = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())] if at else ""
        form = chance.choice(_FORMS).replace("{words}", said("en", chance, str).text.partition("\n")[0][:80])
        try:
            line = filler.fill(form.replace("{{", "\\{").replace("}}", "\\}")).text
        except (KeyError, ValueError, AttributeError):
            line = filler.fill("{person}").text
        lines.insert(at, indent + line)
    return "\n".join(lines)


def _technical(chance: random.Random) -> str:
    text = _stretch(chance)
    return _with_name(text, chance) if chance.random() < PUT_IN else text


def _said(chance: random.Random) -> str:
    language = chance.choice(list(LANGUAGES))
    return said(language, chance, lambda: Filler(chance, language).people.person().full).text


def _generated(chance: random.Random) -> str:
    """One document, or several as in a long text."""
    many = chance.choice((1, 1, 1, 1, 1, 1, 2, 4, 12))
    return chance.choice((" ", "\n", "\n\n")).join(one(chance).text for _ in range(many))


def _mixed(chance: random.Random) -> str:
    """A prompt with a document, code with a question."""
    parts = [_technical(chance)[:1500], _generated(chance)[:1500]]
    chance.shuffle(parts)
    return chance.choice(("\n\n", "\n", "\n```\n")).join(parts)


def texts(count: int, seed: int, shares: Mapping[str, int] = SHARES) -> Iterator[str]:
    """`count` texts, of each kind by its share; the same seed gives the same ones."""
    chance = random.Random(f"distil {seed}")
    kinds = {"generated": _generated, "technical": _technical, "said": _said, "mixed": _mixed}
    for kind in chance.choices(list(shares), list(shares.values()), k=count):
        yield kinds[kind](chance)
