"""The model of names, as the gateway asks it."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from gateway.detection import Detector
from gateway.detection.memory import Memory, Recall
from gateway.detection.ner import cascade
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.cascade import Doubt
from gateway.detection.ner.decoded import with_blanks
from gateway.detection.ner.finder import NameFinder
from gateway.detection.ner.inference import Input, Logits
from gateway.detection.ner.units import Units
from tests.call_counts import calls
from tests.tables import table

CASES = table(__file__)


def found(names: NameFinder, text: str) -> set[tuple[str, str]]:
    return {(one.type, text[one.start : one.end]) for one in names.detect(text)}


@pytest.mark.parametrize(("text", "name"), CASES["names_that_the_transformer_cannot_read"])
def test_names_that_the_transformer_cannot_read(names: NameFinder, text: str, name: str) -> None:
    """Its tokenizer takes a word with an emoji for an unknown one."""
    hidden = {at for one in names.detect(text) if one.type == "PERSON" for at in range(one.start, one.end)}
    start = text.index(name)
    assert hidden >= {at for at in range(start, start + len(name)) if text[at] != " "}


@pytest.mark.parametrize("quotes", ["“”", "„“", "«»", "””"])
@pytest.mark.parametrize("text", CASES["names_in_any_quotation_marks"])
def test_names_in_any_quotation_marks(names: NameFinder, text: str, quotes: str) -> None:
    opened, closed = tuple(quotes)
    parts = text.split('"')
    quoted = "".join(part + (closed if number % 2 else opened) for number, part in enumerate(parts[:-1])) + parts[-1]
    assert names.detect(quoted) == names.detect(text)
    assert any(one.type == "PERSON" for one in names.detect(text))


@pytest.mark.parametrize(("text", "name"), CASES["names_that_are_encoded"])
@pytest.mark.parametrize("before", ["", "Nothing of note. " * 300, "Größe und Maß. " * 40])
def test_names_that_are_encoded(names: NameFinder, text: str, name: str, before: str) -> None:
    found = [(before + text)[one.start : one.end] for one in names.detect(before + text) if one.type == "PERSON"]
    assert name in found


@pytest.mark.parametrize("text", CASES["escaped_white_space_is_no_part_of_a_name"])
@pytest.mark.parametrize("before", ["", "Nothing of note. " * 300, "Größe und Maß. " * 40])
def test_escaped_white_space_is_no_part_of_a_name(names: NameFinder, text: str, before: str) -> None:
    """Nor does it keep a first name from being read as one."""
    found = [(before + text)[one.start : one.end] for one in names.detect(before + text) if one.type == "PERSON"]
    assert found == ["Anna Schmidt"]


@pytest.mark.parametrize("text", ["open C:\\new\\reports", "$\\nabla f = \\tau\\nu$", "x\\n", "\\", "\\\\n", ""])
def test_white_space_is_as_long_as_its_escape(text: str) -> None:
    assert len(with_blanks(text)) == len(text)
    assert with_blanks(text) == text or not with_blanks(text).strip("x \t\n")


@pytest.mark.parametrize("text", CASES["what_is_encoded_and_no_name"])
def test_encoded_words_are_no_names(names: NameFinder, text: str) -> None:
    assert not [one for one in names.detect(text) if one.type == "PERSON"]


@pytest.mark.parametrize(("text", "account"), CASES["an_account_is_found_as_a_whole"])
def test_an_account_is_found_as_a_whole(names: NameFinder, text: str, account: str | None) -> None:
    found = [text[one.start : one.end] for one in names.detect(text) if one.type in {"PERSON", "USERNAME"}]
    assert found == ([] if account is None else [account])


@pytest.mark.parametrize(("text", "number"), CASES["a_number_is_found_as_a_whole"])
def test_a_number_is_found_as_a_whole(names: NameFinder, text: str, number: str) -> None:
    assert [text[one.start : one.end] for one in names.detect(text)] == [number]


def test_no_window_is_longer_than_the_transformer_takes(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cascade, "STRICT", Doubt(some=-1.0, sure=2.0))
    model = BuiltinModel(detector.types)
    read: list[int] = []
    logits = model._logits_of

    def noted(window: Input) -> Logits:
        read.append(len(window.ids))
        return logits(window)

    monkeypatch.setattr(model, "_logits_of", noted)
    NameFinder(model).detect("Wojciechowska-Przybyszewski Anna Schmidt met Zbigniew. " * 100)
    assert 0 < max(read) <= 128


def test_long_words_take_no_longer_than_others(names: NameFinder) -> None:
    """Measured in calls, not in seconds."""
    many = "-".join(["Rtausln", "Odette", "Zbig", "torvi"][index % 4] for index in range(400)) + "@"
    joined = "".join(["Anna", "Berg", "Peter", "Gesine"][index % 4] + str(index * 37 % 100) for index in range(400))
    plain = "Rtausln Odette met Zbig and torvi. " * 75
    least = calls(lambda: names.detect(plain))
    assert calls(lambda: names.detect(many)) < 6 * least
    assert calls(lambda: names.detect(joined)) < 6 * least


def test_version_hash_and_types(model: BuiltinModel, names: NameFinder, detector: Detector) -> None:
    assert len(model.hash) == 64
    assert names.version.startswith("names+")
    assert {"PERSON", "LOCATION", "ORGANIZATION", "STREET_ADDRESS"} <= names.types.keys()
    assert all(detector.types.get(name, kind) == kind for name, kind in names.types.items())


@pytest.mark.slow
def test_a_rest_changes_nothing(model: BuiltinModel, names: NameFinder) -> None:
    text = "İrem Yılmaz 和 Karl Brand. " * 40
    before = names.detect(text)
    model.rest()
    assert names.detect(text) == before != ()


def test_only_what_changed_is_read_again(
    model: BuiltinModel, names: NameFinder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And another caller's text is read anew."""
    read: list[str] = []
    units = model._reader.read_all

    def noted(texts: Sequence[str]) -> list[Units]:
        read.extend(texts)
        return units(texts)

    monkeypatch.setattr(model._reader, "read_all", noted)
    chapters = [f"Chapter {number}. Anna Schmidt waited, and the winter went on.\n" * 5 for number in range(200)]
    text = "\n".join(chapters)
    chapters[100] = "Chapter 100. Johannes Oberhuber came.\n"
    changed = "\n".join(chapters)
    memory = Memory()

    def length(text: str, caller: str) -> int:
        read.clear()
        (remembered,) = names.detect_all([text], Recall(memory, caller))
        characters = sum(map(len, read))
        assert remembered == names.detect(text)
        return characters

    assert length(text, "key_anna") > len(text)
    assert length(text, "key_anna") == 0
    assert 0 < length(changed, "key_anna") < 20_000
    assert length(text, "key_bert") > len(text)


@pytest.mark.slow
def test_findings_of_neighbouring_blocks_are_disjoint(names: NameFinder) -> None:
    for number in range(0, 3000, 97):
        text = "x" * number + " " + "Anna Schmidt, Jonas Weber; " * 400
        entities = names.detect(text)
        assert all(one.end <= other.start for one, other in pairwise(entities))
