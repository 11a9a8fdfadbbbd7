"""The tables of rules for secrets: what is refused at start, and that they count for the detector's version."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.detection import discovery
from gateway.detection.data_files import expand
from gateway.detection.normalized_text import normalize_text
from gateway.detection.recognizer import FunctionRecognizer
from gateway.detection.recognizers.secrets import _locator, _vocabulary

TABLE = """
id = "secret.test"
[parts]
word = 'kw'
[[rules]]
lead = '''
(?i)\\b(?:<<word>>
|open  sesame) *: *'''
{rule}
[examples]
PASSWORD = ['kw: ⟦Wat3rfall!⟧']
"SECRET 1.0" = ['kw: ⟦{{base62:32}}⟧']
none = ['no kw']
"""


def built(folder: Path, monkeypatch: pytest.MonkeyPatch, rule: str) -> FunctionRecognizer:
    (folder / "test.toml").write_text(TABLE.format(rule=rule), "utf-8")
    monkeypatch.setattr(_locator, "__file__", str(folder / "_locator.py"))
    return _locator.table("test")


def test_a_table_is_a_recognizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recognizer = built(tmp_path, monkeypatch, "score = 0.7")
    text = "KW: Wat3rfall!, open \t sesame:Sunny+4me"
    found = [(text[one.start : one.end], one.score) for one in recognizer.find(normalize_text(text), [0])]
    assert found == [("Wat3rfall!", 0.7), ("Sunny+4me", 0.7)]
    assert recognizer.prefilters == (r"(?i)\b(?:kw|open[ \t]+[ \t]+sesame)[ \t]*:[ \t]*",)
    assert {(one.type, one.score, len(one.value)) for one in recognizer.examples} == {
        ("PASSWORD", 0.5, 10),
        ("SECRET", 1.0, 32),
    }
    assert recognizer.counter_examples == ("no kw",)


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ("prefliter = 'x'", ValidationError),
        ("check = 'nobody'", AttributeError),
        ("find = 'nothing'", KeyError),
        ("value = '<<nothing>>'", KeyError),
    ],
)
def test_a_mistake_in_a_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        built(tmp_path, monkeypatch, rule)


def test_entries_of_the_vocabulary_are_inserted_as_deep_as_they_go() -> None:
    assert expand("<<a>>!", {"a": "(<<b>>)", "b": "c"}) == "(c)!"
    assert "<<" not in "".join(_vocabulary.EXPRESSIONS.values())


def test_a_change_of_a_table_changes_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.toml").write_text("a = 1", "utf-8")
    monkeypatch.setattr(discovery, "__file__", str(tmp_path / "discovery.py"))
    before = discovery.definitions_digest(())
    (tmp_path / "words.toml").write_text("a = 2", "utf-8")
    assert discovery.definitions_digest(()) != before
