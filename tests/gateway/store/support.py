"""Rows that the tests of a store write, and a lock that holds its writer up."""

import threading
from collections.abc import Callable

from gateway.store import Repositories, Store
from gateway.store.rows import KeyRow


def key(name: str, **changes: object) -> KeyRow:
    row = KeyRow(name, "a label", "client", name.encode(), "2026-01-02T03:04:05+00:00", "{}")
    return row._replace(**changes)  # type: ignore[arg-type]


def add(name: str) -> Callable[[Repositories], str]:
    def work(stored: Repositories) -> str:
        stored.keys.add(key(name))
        return name

    return work


def names(stored: Repositories) -> list[str]:
    return [row.key_id for row in stored.keys.all()]


class Gate:
    """Holds the writer inside a piece of work, so that what comes after it waits in one queue."""

    def __init__(self, store: Store) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self.done = store.submit(self._wait)
        self._entered.wait(10)

    def _wait(self, _: Repositories) -> None:
        self._entered.set()
        self._open.wait(10)

    def open(self) -> None:
        self._open.set()
