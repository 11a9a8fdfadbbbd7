"""Narrows a text to the ranges where an expensive expression can match."""

from collections.abc import Iterator

import re2

from gateway.detection.entropy import periodic_skip

_FIRST_LIMIT, _MIN_RUN = 160, 48
TOP_DOMAINS = tuple(
    """
    com org net edu gov mil int info biz name pro app dev cloud online site shop store tech xyz ai io co me tv
    eu test example de uk fr es it nl be ch at dk se no fi pl cz sk hu ro bg gr pt ie lt lv ee si hr rs ua ru
    tr il ca us mx br ar cl pe au nz jp cn in kr tw hk sg my th id ph vn za ng ke eg ae sa
    """.split()
)
"""Top-level domains (IANA, Root Zone Database) common enough to mark the end of an address."""


def ends_as_host(address: bytes) -> bool:
    """Returns whether an address ends with one of TOP_DOMAINS."""
    return address.rpartition(b".")[2].decode("utf-8", "replace").lower() in TOP_DOMAINS


def find_runs(data: bytes, prefilter: "re2._Regexp", run: "re2._Regexp") -> Iterator["re2._Match"]:
    """Yields the matches of `run`, of any length, that start at or shortly after a match of `prefilter`.

    A match of `run` must start with a shorter match of fewer than `_MIN_RUN` bytes. In a row of small numbers that no
    single run covers, only the runs at both ends are found.
    """
    at, before = 0, -1
    while match := prefilter.search(data, at):
        start, limit = match.start(), match.end() + _FIRST_LIMIT
        found = run.search(data, start, limit)
        while found is not None and limit < len(data) and found.end() > limit - 3:
            limit += 4 * (limit - start)
            found = run.search(data, start, limit)
        if found is None:
            at = max(match.end() - 1, limit - _MIN_RUN)
        else:
            yield found
            at = max(match.end() - 1, found.end() - 1) + periodic_skip(data, before, *found.span())
            before = found.start()
