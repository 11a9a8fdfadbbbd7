"""The model of names, as the gateway asks it."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from gateway.concurrency.thread_pool import Workers, hanging
from gateway.detection import Detector
from gateway.detection.memory import Memory, Recall
from gateway.detection.ner import BuiltinModel, cascade
from gateway.detection.ner.cascade import Doubt
from gateway.detection.ner.units import Units
from gateway.errors import Unavailable


@pytest.fixture(scope="module")
def names(detector: Detector) -> BuiltinModel:
    return BuiltinModel(detector.types)


def found(names: BuiltinModel, text: str) -> set[tuple[str, str]]:
    return {(one.type, text[one.start : one.end]) for one in names.detect(text)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My name is Anna Schmidt and I have a question.", "Anna Schmidt"),
        ("Dr. Peter Müller's report arrived.", "Peter Müller"),
        ("hi, this is maria lopez from accounting", "maria lopez"),
        ("Sehr geehrte Frau Weber, Ihr Vertrag endet bald.", "Weber"),
        ("Contact: Jean-Pierre Dubois\nPhone: 12345", "Jean-Pierre Dubois"),
    ],
)
def test_names_in_plain_sentences(names: BuiltinModel, text: str, name: str) -> None:
    assert ("PERSON", name) in found(names, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "def main() -> None:\n    print('hello')\n",
        "Boil the pasta for 9 minutes, then add salt.",
        "---",
        "1",
    ],
)
def test_nothing_where_nobody_is(names: BuiltinModel, text: str) -> None:
    assert names.detect(text) == ()


def test_a_name_is_found_wherever_it_stands_in_a_long_text(names: BuiltinModel) -> None:
    filler = "The delivery arrived last week and the invoice is still open. "
    for before in range(0, 60, 7):
        text = filler * before + "Please call Johannes Oberhuber tomorrow. " + filler * 20
        assert ("PERSON", "Johannes Oberhuber") in found(names, text)


def test_offsets_are_code_points_of_the_source(names: BuiltinModel) -> None:
    for text in (
        "😀😀 Señor Muñoz Ibáñez y 👩‍👩‍👧 llegaron",
        "e\u0301t\u0301 Anna Schmidt",
        "\ufeff\u200bAnna Schmidt ist da",
    ):
        for one in names.detect(text):
            assert text[one.start : one.end].strip() == text[one.start : one.end] != ""
    assert ("PERSON", "Anna Schmidt") in found(names, "😀😀 My name is Anna Schmidt.")


@pytest.mark.slow
def test_the_same_from_many_threads_as_from_one(names: BuiltinModel) -> None:
    texts = [f"Please tell Anna Schmidt that {number} parcels arrived" + "." * number for number in range(40)]
    alone = [names.detect(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(names.detect, texts)) == alone


@pytest.mark.slow
def test_a_note_is_read_while_a_book_is(names: BuiltinModel) -> None:
    book = " ".join(f"Chapter {number} tells of a winter and of nobody." for number in range(3000))
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(names.detect, book)
        while not reading.running():
            time.sleep(0.001)
        time.sleep(0.2)
        assert found(names, "Yours, Anna Schmidt") == {("PERSON", "Anna Schmidt")}
        assert not reading.done()
        reading.result()


async def test_reading_ends_when_nobody_waits_for_it(names: BuiltinModel, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    units = names._reader.read_all

    def counted(texts: Sequence[str]) -> list[Units]:
        read.extend(map(len, texts))
        return units(texts)

    monkeypatch.setattr(names._reader, "read_all", counted)
    text = "Please call Anna Schmidt tomorrow. " * 300_000
    workers = Workers(1, 4, 0.05)
    with pytest.raises(Unavailable):
        await workers.run(lambda: names.detect(text))
    workers.close()
    assert not hanging(60)
    assert 0 < sum(read) < len(text)
    assert names.detect("") == ()


def test_what_is_known_before_a_call(names: BuiltinModel, detector: Detector) -> None:
    assert len(names.hash) == 64
    assert names.version.startswith("names+")
    assert {"PERSON", "LOCATION", "ORGANIZATION", "STREET_ADDRESS"} <= names.types.keys()
    assert all(detector.types.get(name, kind) == kind for name, kind in names.types.items())


def test_a_model_that_takes_too_long_is_a_refusal(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cascade, "STRICT", Doubt(some=-1.0, sure=2.0))
    names = BuiltinModel(detector.types, timeout=0.0)
    with pytest.raises(Unavailable) as refused:
        names.detect("Anna Schmidt " * 2000)
    assert refused.value.code == "detection_timeout"
    assert "Anna" not in refused.value.message
    names.close()


@pytest.mark.slow
def test_only_what_changed_is_read_again(names: BuiltinModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """And another caller's text is read as if nobody had sent it."""
    read: list[str] = []
    units = names._reader.read_all

    def noted(texts: Sequence[str]) -> list[Units]:
        read.extend(texts)
        return units(texts)

    monkeypatch.setattr(names._reader, "read_all", noted)
    chapters = [f"Chapter {number}. Anna Schmidt waited, and the winter went on.\n" * 5 for number in range(200)]
    text = "\n".join(chapters)
    chapters[100] = "Chapter 100. Johannes Oberhuber came.\n"
    changed = "\n".join(chapters)
    memory = Memory()

    def length(text: str, caller: str) -> int:
        read.clear()
        remembered = names.detect(text, Recall(memory, caller))
        characters = sum(map(len, read))
        assert remembered == names.detect(text)
        return characters

    assert length(text, "key_anna") > len(text)
    assert length(text, "key_anna") == 0
    assert 0 < length(changed, "key_anna") < 20_000
    assert length(text, "key_bert") > len(text)


@pytest.mark.slow
def test_what_is_found_across_blocks_is_found_once(names: BuiltinModel) -> None:
    for number in range(0, 3000, 97):
        text = "x" * number + " " + "Anna Schmidt, Jonas Weber; " * 400
        entities = names.detect(text)
        assert all(one.end <= other.start for one, other in pairwise(entities))


def test_closing_ends_the_threads(detector: Detector) -> None:
    before = set(threading.enumerate())
    names = BuiltinModel(detector.types, threads=3)
    names.detect("Anna Schmidt")
    started = set(threading.enumerate()) - before
    assert len(started) == 3
    names.close()
    for thread in started:
        thread.join(30)
    assert not any(thread.is_alive() for thread in started)
