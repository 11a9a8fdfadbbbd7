"""Prints how large the tree is, next to its bounds. Fails if a bound is exceeded."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("run_proxy.py", "addons", "gateway")
TESTS = ("tests",)
# The tree may shrink, not grow: lower a bound when it has.
PRODUCT_LINES, TEST_LINES, LINES_PER_FILE = 70_000, 65_400, 400


class Figure(NamedTuple):
    """A count and the most that it may be."""

    name: str
    value: int
    most: int

    def __str__(self) -> str:
        return f"{self.name:44} {self.value:>7,} of at most {self.most:>6,}{'' if self.holds else '  EXCEEDED'}"

    @property
    def holds(self) -> bool:
        return self.value <= self.most


def lengths(root: Path, places: Sequence[str]) -> dict[str, int]:
    """Returns the lines of each Python file in the places, blank ones and comments included."""
    files = [
        path for place in places for path in ([root / place] if place.endswith(".py") else (root / place).rglob("*.py"))
    ]
    return {str(file.relative_to(root)): len(file.read_text(encoding="utf-8").splitlines()) for file in sorted(files)}


def figures(root: Path = ROOT) -> list[Figure]:
    product, tests = lengths(root, PRODUCT), lengths(root, TESTS)
    return [
        Figure("lines of product Python", sum(product.values()), PRODUCT_LINES),
        Figure("lines of tests", sum(tests.values()), TEST_LINES),
        Figure("lines of the longest file", max([*product.values(), *tests.values()]), LINES_PER_FILE),
    ]


def report(found: Sequence[Figure]) -> int:
    """Prints figures. Returns 1 if one exceeds its bound."""
    print(*found, sep="\n")
    return int(not all(figure.holds for figure in found))


if __name__ == "__main__":
    sys.exit(report(figures()))
