"""Repeated failures do not fill the log, and the log says when they end."""

import pytest

from gateway.store.repeated_failures import RepeatedFailures


def test_the_first_failure_is_logged_and_the_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    failures = RepeatedFailures("no: %s", "again")
    failures.end()
    for _ in range(2):
        for kind in ("FULL", "IOERR", "FULL"):
            failures.add(kind)
        failures.end()
        failures.end()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == 2 * [
        ("ERROR", "no: FULL"),
        ("INFO", "again"),
    ]
