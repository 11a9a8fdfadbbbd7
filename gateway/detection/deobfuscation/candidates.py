"""Finds where to look closely, so that what is expensive runs only there."""

from collections.abc import Iterator

import re2

from gateway.detection.entropy import in_step

_CHUNK = 64
_REACH, _LEAST = 160, 48
TOP_DOMAINS = tuple(
    """
    com org net edu gov mil int info biz name pro app dev cloud online site shop store tech xyz ai io co me tv
    eu test example de uk fr es it nl be ch at dk se no fi pl cz sk hu ro bg gr pt ie lt lv ee si hr rs ua ru
    tr il ca us mx br ar cl pe au nz jp cn in kr tw hk sg my th id ph vn za ng ke eg ae sa
    """.split()
)
"""Endings of host names (IANA, Root Zone Database) that are common enough to say: here ends an address."""


def ends_as_host(address: bytes) -> bool:
    """Whether an address ends with a domain that is known."""
    return address.rpartition(b".")[2].decode("utf-8", "replace").lower() in TOP_DOMAINS


def near(data: bytes, gate: "re2._Regexp", before: int, after: int) -> Iterator[tuple[int, int]]:
    """Disjoint stretches with every match of `gate` that is shorter than `after`, and so many bytes around it.

    Looks for the gate once in `after` bytes, so that a text full of gates costs no more than a long one.
    """
    first, last, at = -1, -1, 0
    while place := gate.search(data, at):
        if place.start() - before > last:
            if last >= 0:
                yield first, last
            first = max(place.start() - before, 0)
        last = min(max(place.end(), place.start() + after) + after, len(data))
        at = max(place.end(), last - after)
    if last >= 0:
        yield first, last


def runs(data: bytes, gate: "re2._Regexp", run: "re2._Regexp") -> Iterator["re2._Match"]:
    """The matches of `run`, however long, where `gate` matches at or shortly before their beginning.

    What `run` finds begins with something that it would find alone and that is shorter than `_LEAST`. In a row of small
    numbers that no run holds as a whole, only the runs at its beginning and its end are found.
    """
    at, before = 0, -1
    while place := gate.search(data, at):
        start, limit = place.start(), place.end() + _REACH
        found = run.search(data, start, limit)
        while found is not None and limit < len(data) and found.end() > limit - 3:
            limit += 4 * (limit - start)
            found = run.search(data, start, limit)
        if found is None:
            at = max(place.end() - 1, limit - _LEAST)
        else:
            yield found
            at = max(place.end() - 1, found.end() - 1) + in_step(data, before, *found.span())
            before = found.start()


def run_start(data: bytes, at: int, alphabet: bytes) -> int:
    """Where the run of characters of `alphabet` begins that `at` stands in or behind."""
    size = _CHUNK
    while at > 0:
        low = max(0, at - size)
        left = len(data[low:at].rstrip(alphabet))
        if left:
            return low + left
        at = low
        size *= 4
    return at


def run_end(data: bytes, at: int, alphabet: bytes) -> int:
    """Where the run of characters of `alphabet` ends that begins at or before `at`."""
    size = _CHUNK
    while at < len(data):
        chunk = data[at : at + size]
        left = len(chunk.lstrip(alphabet))
        if left:
            return at + len(chunk) - left
        at += len(chunk)
        size *= 4
    return at
