"""scripts/tree_figures.py counts the lines of the product and of its tests, and sees when there are too many."""

from pathlib import Path

from scripts.tree_figures import figures


def test_lines_are_counted_by_place(tmp_path: Path) -> None:
    for name, lines in {
        "run_proxy.py": 3,
        "gateway/a.py": 401,
        "addons/b.py": 2,
        "tests/c.py": 5,
        "docs/d.py": 9,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n" * lines)
    product, tests, longest = figures(tmp_path)
    assert (product.value, tests.value, longest.value) == (406, 5, 401)
    assert (product.holds, longest.holds) == (True, False)
    assert str(longest).endswith("EXCEEDED")
