"""Words that are no names: looked up in the file, in any case, and never half of a name."""

from pathlib import Path

import pytest

from gateway.detection.ner.ordinary_words import OrdinaryWords


@pytest.fixture
def words(tmp_path: Path) -> OrdinaryWords:
    file = tmp_path / "ordinary.txt"
    file.write_text("\n".join(sorted(["apfel", "birne", "über", "zwiebel", "żaba"])) + "\n", encoding="utf-8")
    return OrdinaryWords(file)


@pytest.mark.parametrize("text", ["Apfel", "apfel", "BIRNE", "Über", "Żaba", "Apfel, Birne", "Zwiebel-Apfel", "B"])
def test_ordinary(words: OrdinaryWords, text: str) -> None:
    assert words.covers(text)


@pytest.mark.parametrize("text", ["Apfelbaum", "Apf", "Anna", "Anna Apfel", "Apfel2", "Zz", "aaa", "Li"])
def test_not_ordinary(words: OrdinaryWords, text: str) -> None:
    assert not words.covers(text)


def test_every_word_is_found_and_the_version_is_of_the_words(words: OrdinaryWords, tmp_path: Path) -> None:
    assert all(word in words for word in ("apfel", "birne", "über", "zwiebel", "żaba"))
    other = tmp_path / "other.txt"
    other.write_text("apfel\n", encoding="utf-8")
    assert OrdinaryWords(other).version != words.version
