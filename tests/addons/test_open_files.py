"""The number of connections that fit below the system's limit of open files, and the message about it."""

import logging

import pytest

from addons.open_files import affordable_connections

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    ("limit", "fitting", "level"),
    [
        (8192, 2048, None),
        (4224, 2048, None),
        (1024, 448, logging.WARNING),
        (160, 16, logging.WARNING),
        (158, 15, logging.ERROR),
        (64, 1, logging.ERROR),
    ],
)
def test_connections_that_fit(
    limit: int, fitting: int, level: int | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    assert affordable_connections(2048) == fitting
    assert [record.levelno for record in caplog.records] == ([level] if level else [])
    assert all(f"only {fitting} of 2048" in message for message in caplog.messages)
