"""Repeated failures do not fill the log, and the log says when they end."""

from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.store.sqlite import Store, write_failures
from gateway.store.sqlite.write_failures import WriteFailures
from tests.gateway.store.support import add


def test_each_kind_is_logged_at_once_and_then_one_line_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(write_failures, "monotonic", lambda: now)
    failures = WriteFailures("no: %s")
    assert not failures.end()
    for second in range(150):
        now = float(second)
        failures.add("FULL" if second % 2 else "IOERR")
    assert caplog.messages == ["no: IOERR", "no: FULL", "no: FULL", "no: FULL"]
    assert failures.end()
    failures.add("FULL")
    assert caplog.messages[4:] == ["no: FULL"]


def test_the_log_says_when_the_store_writes_again(store: Store, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store.submit(add("before")).result()
    aside = path.with_name("aside")
    path.rename(aside)
    for number in range(3):
        with pytest.raises(Unavailable):
            store.submit(add(f"meanwhile {number}")).result()
    assert caplog.messages == ["the store could not commit: gateway.db was deleted. Restart the gateway."]
    aside.rename(path)
    for name in ("after", "later"):
        store.submit(add(name)).result()
    assert caplog.messages[1:] == ["the store writes again"]
