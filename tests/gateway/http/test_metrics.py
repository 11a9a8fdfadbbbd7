"""Metrics of the gateway's process."""

import sys

import pytest

from gateway.errors import Unavailable
from gateway.http.metrics import exposition, resident_bytes


def test_readings_are_taken_when_they_are_asked_for() -> None:
    values = iter([1.0, 2.0])
    readings = {"store_lag_seconds": ("For how long writes wait.", lambda: next(values))}
    assert b"\nprivacy_gateway_store_lag_seconds 1.0\n" in exposition(readings)
    assert b"\nprivacy_gateway_store_lag_seconds 2.0\n" in exposition(readings)


def test_a_value_that_cannot_be_read_hides_no_other() -> None:
    def broken() -> float:
        raise Unavailable("The database is missing.")

    text = exposition({"receipts_end": ("Broken.", broken), "failures_total": ("Counted.", lambda: 3)}).decode()
    assert "\nprivacy_gateway_receipts_end" not in text
    assert "# TYPE privacy_gateway_failures_total counter\nprivacy_gateway_failures_total 3.0\n" in text


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which Linux has")
def test_memory_of_this_process() -> None:
    assert resident_bytes() > 5_000_000
