"""Hostile files are refused, or converted completely, by a process that ends and can do nothing else."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.attachments.base import File, Reason, Refused
from gateway.attachments.converter import Converter
from tests.gateway.attachments.documents import LANGUAGES, portable
from tests.gateway.attachments.hostile import hostile

HOSTILE = hostile()


@pytest.fixture(scope="module")
def converter() -> Iterator[Converter]:
    made = Converter()
    yield made
    made.close()


def test_there_are_at_least_forty_hostile_files() -> None:
    assert len(HOSTILE) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_or_converted_completely(converter: Converter, name: str) -> None:
    file = HOSTILE[name]
    expected = file.expected
    if isinstance(expected, str) and not isinstance(expected, Reason):
        assert expected in converter.convert(File(file.data, name=file.name)).text
    else:
        with pytest.raises(Refused) as refused:
            converter.convert(File(file.data, name=file.name))
        assert refused.value.reason in (expected if isinstance(expected, tuple) else (expected,))


@pytest.mark.slow
def test_each_process_reads_one_file(converter: Converter, tmp_path: Path) -> None:
    first = converter.convert(File(b"a", name="a.txt"))
    ready = converter._ready
    assert ready is not None
    assert converter.convert(File(b"b", name="a.txt")).text == "b"
    assert first.text == "a"
    assert ready[0].returncode is not None
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
def test_what_takes_too_long_is_ended() -> None:
    converter = Converter(seconds=0)
    with pytest.raises(Refused) as refused:
        converter.convert(File(portable(LANGUAGES["de"]), name="a.pdf"))
    assert refused.value.reason is Reason.TOO_SLOW
    converter.close()


@pytest.mark.slow
def test_a_process_that_is_gone_is_replaced(converter: Converter) -> None:
    converter.convert(File(b"a", name="a.txt"))
    ready = converter._ready
    assert ready is not None
    ready[0].kill()
    ready[0].wait()
    assert converter.convert(File(b"b", name="a.txt")).text == "b"


@pytest.mark.slow
def test_threads_may_share_a_converter(converter: Converter) -> None:
    found: list[str] = []

    def convert(number: int) -> None:
        found.append(converter.convert(File(str(number).encode(), name="a.txt")).text)

    threads = [threading.Thread(target=convert, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(found) == ["0", "1", "2"]


def test_a_file_that_is_too_large_starts_nothing(converter: Converter) -> None:
    with pytest.raises(Refused) as refused:
        converter.convert(File(bytes(33 * 1024 * 1024), name="a.txt"))
    assert refused.value.reason is Reason.TOO_LARGE
