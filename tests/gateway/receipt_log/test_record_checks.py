"""Outcomes are compared with their receipts the same way in memory and in runs of a file."""

import random
import tracemalloc

import pytest

from gateway.receipt_log.record_checks import Fault, Pairing

type Entry = tuple[int, bytes, bytes | None, bytes]


def log(requests: int) -> list[Entry]:
    """Receipts with hashes, and an outcome for each, somewhere after it."""
    draw = random.Random(7)
    places = sorted((place, name) for name in range(requests) for place in (draw.random(), draw.random()))
    seen, entries = set[int](), list[Entry]()
    for line, (_, name) in enumerate(places, start=2):
        receipt = b"h%d" % name
        entries.append((line, b"r%d" % name, receipt if name in seen else None, receipt))
        seen.add(name)
    return entries


def fault(entries: list[Entry], most: int) -> Fault | None:
    pairing = Pairing(most)
    for each in entries:
        pairing.add(*each)
    return pairing.fault()


@pytest.mark.parametrize("most", [1, 2, 7, 100, 1 << 16])
def test_a_fault_is_found_wherever_its_parts_lie(most: int) -> None:
    entries = log(50)
    assert fault(entries, most) is None
    twice = [*entries, (500, *entries[0][1:])]
    assert fault(twice, most) == (500, "the request has such a record already")
    outcome = next(each for each in entries if each[2] is not None)
    assert fault([*entries, (500, *outcome[1:])], most) == (500, "the request has such a record already")
    orphan = (500, b"r-other", b"h0", b"h0")
    assert fault([*entries, orphan], most) == (500, "the outcome is of no receipt before it")
    receipt = next(each for each in entries if each[1] == outcome[1])
    early = [(1, *outcome[1:]), *(each for each in entries if each is not outcome)]
    assert fault(early, most) == (1, "the outcome is of no receipt before it")
    changed = [(line, name, b"h-other" if line == outcome[0] else of, hash) for line, name, of, hash in entries]
    assert fault(changed, most) == (outcome[0], "the outcome is of no receipt before it")
    assert receipt[2] is None
    assert fault([orphan, *twice], most) == (500, "the outcome is of no receipt before it"), "the first of two"


@pytest.mark.slow
def test_the_memory_does_not_grow_with_the_log() -> None:
    def peak(requests: int) -> int:
        pairing = Pairing(1 << 10)
        tracemalloc.start()
        for number in range(requests):
            pairing.add(number, b"r%d" % number, None, b"h")
        assert pairing.fault() is None
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(16 << 10) < 3 * peak(1 << 10)
