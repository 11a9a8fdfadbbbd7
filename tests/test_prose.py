"""scripts/prose.py finds each expression where it reads as translated, and nowhere else."""

import pytest

from scripts.prose import tells_in


@pytest.mark.parametrize(
    ("name", "source", "found"),
    [
        ("a.py", '"""What a key permits."""', ["What"]),
        ("a.py", 'def f() -> None:\n    """Those of the others."""', ["Those"]),
        ("a.py", "# Of two words, the longer.\nx = 1", ["Of"]),
        ("a.py", "# One that\n# nobody knows.\nx = 1", ["nobody", "One that"]),
        ("a.py", "def test_nobody_is_told() -> None: ...", ["nobody"]),
        ("a.py", "def test_the_answer_goes_on() -> None: ...", ["goes_on"]),
        ("a.py", '"""Returns the word behind the label."""', ["behind the label"]),
        ("a.toml", "# Whoever asks.\nname = 1", ["Whoever"]),
        ("a.md", "The request crosses.", ["crosses"]),
        ("a.md", "It is told: the text stands alone.", ["stands alone"]),
        ("a.py", '"""Returns what a key permits."""', []),
        ("a.py", '"""What does it cost?"""', []),
        ("a.py", 'text = "nobody goes on"', []),
        ("a.py", "def test_stand_in() -> None: ...\n# Runs behind a proxy.", ["stand"]),
        ("a.md", "Across `crosses`.\n```\nnobody\n```", []),
        ("a.toml", 'words = ["nobody"]', []),
        ("a.py", '"""Words of places are in `nobody`."""', []),
    ],
)
def test_tells(name: str, source: str, found: list[str]) -> None:
    assert [expression for _, expression, _ in tells_in(name, source)] == found


def test_the_line_is_that_of_the_expression() -> None:
    source = '"""Begins well.\n\nThen nobody\nknows."""\n'
    assert [(line, expression) for line, expression, _ in tells_in("a.py", source)] == [(3, "nobody")]
