"""Words that technical English writes in small letters: ``python -m training.documentation`` writes
`lists/technical.en.txt` from the documentation of the installed packages.

The model knows the English of letters and news. In manuals, instructions for agents and descriptions of tools, it takes
words such as "worktree" for names. Only single words are kept, which at least three packages use; names of people drop
out in `ordinary.py`.
"""

import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LIST = Path(__file__).parent / "lists" / "technical.en.txt"
_HEADER = """\
# Words that the documentation of at least three Python packages writes in small letters.
# Written by `python -m training.documentation`; the words alone are facts, and no text of a package is in here.
"""
# No parts of names, addresses, paths and identifiers.
_WORD = re.compile(r"(?<![\w.@/\-'’])[a-z]{3,20}(?![\w/@'’]|[.\-]\w)")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_COMMENT = re.compile(r"^\s*#\s(.*)$", re.MULTILINE)
_PROSE = frozenset({".md", ".rst", ".txt"})
_OFTEN = 5
_PACKAGES = 3
_WIDTH = 118


def texts(package: Path) -> Iterator[str]:
    """Yields the documentation of an installed package: pages, docstrings and comments."""
    for file in [package, *package.rglob("*")]:
        if not (file.suffix in _PROSE | {".py", ".pyi"} or file.name == "METADATA") or not file.is_file():
            continue
        text = file.read_text("utf-8", "ignore")
        if file.suffix.startswith(".py"):
            text = "\n".join((*_DOCSTRING.findall(text), *_COMMENT.findall(text)))
        yield text


def words() -> list[str]:
    """The words, sorted."""
    times: Counter[str] = Counter()
    packages: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {}
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        package = found.setdefault(re.split(r"[-.]", path.name)[0].lower(), Counter())
        for text in texts(path):
            package.update(_WORD.findall(text))
    for counted in found.values():
        times.update(counted)
        packages.update(counted.keys())
    return sorted(word for word, many in times.items() if many >= _OFTEN and packages[word] >= _PACKAGES)


def main() -> None:
    """Writes the list."""
    lines = [""]
    for word in words():
        if len(lines[-1]) + len(word) + 1 > _WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    LIST.write_text(_HEADER + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
