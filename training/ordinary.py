"""Words of other languages that name nobody: ``python -m training.ordinary`` writes them beside the weights.

From our templates, our word lists and what programs say (interfaces.py), without all that is somebody's name in any
culture that we know. What the model takes for a person and consists of nothing else is none.
"""

import argparse
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from training.generate import LANGUAGES, templates
from training.interfaces import lines
from training.pools import lines as pool_lines
from training.pools import people, words

FILE = Path(__file__).parent.parent / "gateway" / "detection" / "names" / "model" / "ordinary.txt"
# English has no need of it, and in Vietnamese every name is a word.
SPOKEN = tuple(language for language in LANGUAGES if language not in {"en", "vi"})
NAMELESS = ("ordinary.en.txt", "things.txt")
"""What is written with a capital in English or everywhere. Of all other English words the model knows enough."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_SLOT = re.compile(r"\{[\w.]+\}|\\[nt]")
# What is seen once or twice may be a slip, or somebody's name.
_OFTEN = 3


def plain(word: str) -> str:
    """As words are compared: small letters without marks."""
    folded = unicodedata.normalize("NFKD", word.lower().replace("ß", "ss").replace("ı", "i"))
    return "".join(char for char in folded if not unicodedata.combining(char))


def named() -> frozenset[str]:
    """Every part of a name that we know."""
    pools = [name for pool in people().values() for name in (*pool.given, *pool.family)]
    return frozenset(plain(part) for name in (*pools, *words("common_names.txt")) for part in _WORD.findall(name))


def ordinary() -> list[str]:
    """The words, in small letters, sorted."""
    found: set[str] = set()
    for language in SPOKEN:
        said = Counter(word.lower() for line in lines(language) for word in set(_WORD.findall(line)))
        found.update(word for word, times in said.items() if times >= _OFTEN)
        found.update(_written(language))
    for file in NAMELESS:
        found.update(word.lower() for line in pool_lines(file) for word in _WORD.findall(line))
    names = named()
    return sorted(word for word in found if plain(word) not in names)


def _written(language: str) -> Iterator[str]:
    """What stands in our lists and templates; a key of the lists is English."""
    texts = [line.partition(":")[2] for line in pool_lines(f"words.{language}.txt")]
    texts += pool_lines(f"ordinary.{language}.txt")
    for kind in (language, f"{language}.negative"):
        texts += [_SLOT.sub(" ", template) for template in templates(kind)]
    for text in texts:
        yield from (word.lower() for word in _WORD.findall(text))


def main() -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(prog="python -m training.ordinary", description=__doc__)
    parser.add_argument("--out", type=Path, default=FILE)
    arguments = parser.parse_args()
    arguments.out.write_text("\n".join(ordinary()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
