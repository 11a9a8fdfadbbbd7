"""No record of another library quotes a client, and the log file survives its rotation without losing a line."""

import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path

import pytest
from mitmproxy.addons.disable_h2c import DisableH2C
from mitmproxy.http import Headers
from mitmproxy.test import tflow, tutils

from addons import logs
from gateway.config.loading import load_settings

CANARY = "canary-4711"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Yields the log as JSON lines; the state of `logging` is restored at the end."""
    root, factory = logging.getLogger(), logging.getLogRecordFactory()
    handlers, filters, level = list(root.handlers), list(root.filters), root.level
    levels = {name: logging.getLogger(name).level for name in logging.Logger.manager.loggerDict}
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    logs.set_up_logging("debug", json_lines=True)
    yield stream
    logging.setLogRecordFactory(factory)
    root.handlers[:], root.filters[:] = handlers, filters
    root.setLevel(level)
    for name in logging.Logger.manager.loggerDict:
        logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))


def lines(stream: io.StringIO) -> list[dict[str, str]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


FOREIGN = ["mitmproxy.addonmanager", "tornado.general", "asyncio", "uvicorn.error", "httpx", "hpack"]


@pytest.mark.parametrize("name", ["mitmproxy.proxy.server", *FOREIGN])
def test_a_foreign_record_loses_its_text(written: io.StringIO, name: str) -> None:
    logging.getLogger(name).warning("bad request: %s", CANARY)
    logging.getLogger(name).error(CANARY)
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger(name).exception("failed on %r", CANARY)
    said = lines(written)
    assert [line["level"] for line in said] == ["warning", "error", "error"]
    assert all(line["message"].startswith(f"{name} reports a problem at test_logs.py:") for line in said)
    assert said[2]["message"].endswith(": ValueError")
    assert CANARY not in written.getvalue()


SERVER, TLS = "mitmproxy.proxy.server", "Client TLS handshake failed. "
TRUSTS, MAY = (f"{TLS}The client {word} not trust the proxy's certificate" for word in ("does", "may"))


@pytest.mark.parametrize(
    ("name", "level", "message", "kept"),
    [
        (SERVER, logging.WARNING, f"{TLS}Cannot parse ClientHello: {CANARY}", f"{TLS}Cannot parse ClientHello"),
        (SERVER, logging.WARNING, f"{TRUSTS} for {CANARY} (tls)", TRUSTS),
        (SERVER, logging.WARNING, f"{MAY} for {CANARY} (tls)", MAY),
        (SERVER, logging.WARNING, f"TLS Error: [('SSL routines', '', 'tlsv1 alert unknown ca')] {CANARY}", "trust"),
        (SERVER, logging.WARNING, f"TLS Error: {CANARY}", "alert"),
        (SERVER, logging.WARNING, f"Server TLS handshake failed. {CANARY}", "TLS handshake with an upstream failed"),
        (SERVER, logging.WARNING, f"Server TLS handshake failed. Certificate verify failed: {CANARY}", "not trusted"),
        (SERVER, logging.ERROR, f"connection handler has crashed: {CANARY}", "an error in the proxy"),
        ("mitmproxy.addonmanager", logging.ERROR, f"Addon error: {CANARY}", "an addon failed"),
        ("tornado.general", logging.WARNING, f"400 PUT /flows/{CANARY} (127.0.0.1)", "mitmweb refused a request"),
        ("asyncio", logging.ERROR, f"Task exception was never retrieved {CANARY}", "a task failed"),
        (SERVER, logging.INFO, CANARY, None),
        ("tornado.access", logging.ERROR, CANARY, None),
        ("uvicorn.access", logging.ERROR, CANARY, None),
        ("mitmproxy.addons.errorcheck", logging.ERROR, "address already in use", "address already in use"),
        *(
            (f"mitmproxy.tools.web.{module}", logging.WARNING, f"Web server listening at http://h/?token={CANARY}", "")
            for module in ("master", "webaddons")
        ),
    ],
)
def test_foreign_records_quote_no_client(
    written: io.StringIO, name: str, level: int, message: str, kept: str | None
) -> None:
    logging.getLogger(name).log(level, message)
    assert CANARY not in written.getvalue()
    said = [line["message"] for line in lines(written)]
    assert [(kept or "") in line and ("problem at" in line) == (not kept) for line in said] == [True] * (
        kept is not None
    )


def test_our_own_records_keep_their_words_and_lose_the_exceptions_text(written: io.StringIO) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger("gateway.store").exception("the store failed: %s", "disk full")
    assert [line["message"] for line in lines(written)] == ["the store failed: disk full"]
    assert CANARY not in written.getvalue()


def test_the_time_is_in_utc_with_milliseconds(written: io.StringIO) -> None:
    record = logging.LogRecord("gateway", logging.INFO, "", 0, "told", (), None)
    record.created = 1795873441.1239
    logging.getLogger("gateway").handle(record)
    assert lines(written)[0]["time"] == "2026-11-28T13:44:01.123Z"


def test_a_rare_warning_loses_no_count(written: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(logs, "monotonic", lambda: now)
    warning = logs.RareWarning("closed connections: %d")
    for _ in range(5):
        warning.count()
        warning.flush()
    assert [line["message"] for line in lines(written)] == ["closed connections: 1"]
    now = 10.0
    warning.flush()
    warning.flush()
    assert [line["message"] for line in lines(written)][1:] == ["closed connections: 4"]
    warning.count()
    warning.flush(at_once=True)
    assert [line["message"] for line in lines(written)][2:] == ["closed connections: 1"]


def test_an_offer_of_http_2_in_the_clear_is_not_logged(written: io.StringIO) -> None:
    flow = tflow.tflow(req=tutils.treq(headers=Headers(upgrade="h2c", connection="Upgrade, HTTP2-Settings")))

    DisableH2C().request(flow)

    assert "upgrade" not in flow.request.headers
    assert not lines(written)


def test_a_log_that_is_set_up_anew_replaces_the_one_before(written: io.StringIO, tmp_path: Path) -> None:
    log, own = logging.getLogger("gateway"), load_settings(log_file=tmp_path / "svc.log")
    handlers: set[logging.Handler] = set()
    bad = load_settings(log_file=tmp_path / "no" / "svc.log")
    for failures, (level, settings) in enumerate((("info", own), ("error", own), ("info", bad))):
        logs.use_log(settings.model_copy(update={"log_level": level}))
        assert logs.failed_lines() == failures
        handler = logging.getHandlerByName("privacy-gateway")
        assert isinstance(handler, logs.LogFile)
        handler.failures += 1
        handlers.add(handler)
        log.info("told")
        log.error("failed")
    other = own.model_copy(update={"log_file": tmp_path / "other.log"})
    logs.use_log(other)
    assert logs.failed_lines() == 3
    last = logging.getHandlerByName("privacy-gateway")
    assert last is not None
    last.close()
    assert len(handlers) == 1, "the file is the same"
    assert last not in handlers
    said = [line.partition(": ")[2] for line in (tmp_path / "svc.log").read_text().splitlines()]
    assert [line.partition(":")[0] for line in said] == ["told", "failed", "failed", "log_file", "failed"]
    assert written.getvalue() == ""


@pytest.fixture
def instead() -> io.StringIO:
    """The lines that the file did not take."""
    return io.StringIO()


@pytest.fixture
def file(tmp_path: Path, instead: io.StringIO) -> Iterator[logs.LogFile]:
    handler = logs.LogFile(tmp_path / "svc.log", logging.StreamHandler(instead))
    yield handler
    handler.close()


def write(file: logs.LogFile, line: str) -> None:
    file.handle(logging.makeLogRecord({"msg": line}))


def test_only_its_owner_can_read_it(tmp_path: Path, instead: io.StringIO) -> None:
    for umask, mode in ((0, 0o600), (0o277, 0o400)):
        path, before = tmp_path / f"{mode}.log", os.umask(umask)
        try:
            logs.LogFile(path, logging.StreamHandler(instead)).close()
        finally:
            os.umask(before)
        assert path.stat().st_mode & 0o777 == mode


def test_it_is_appended_to(tmp_path: Path, instead: io.StringIO) -> None:
    for line in ("first", "second"):
        handler = logs.LogFile(tmp_path / "svc.log", logging.StreamHandler(instead))
        write(handler, line)
        handler.close()
    assert (tmp_path / "svc.log").read_text() == "first\nsecond\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")
def test_each_process_writes_to_the_new_file_once_the_old_one_is_moved(file: logs.LogFile, tmp_path: Path) -> None:
    write(file, "before")
    (go, start), (done, end) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.close(start)
        write(file, "child before")
        os.write(end, b".")
        os.read(go, 1)
        write(file, "child after")
        os._exit(0)
    os.read(done, 1)
    (tmp_path / "svc.log").rename(tmp_path / "svc.log.1")
    write(file, "after")
    os.close(start)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "svc.log.1").read_text() == "before\nchild before\n"
    assert (tmp_path / "svc.log").read_text() == "after\nchild after\n"
    assert (tmp_path / "svc.log").stat().st_mode & 0o777 == 0o600
    for each in (go, done, end):
        os.close(each)


def test_a_line_that_it_does_not_take_is_written_elsewhere(
    file: logs.LogFile, tmp_path: Path, instead: io.StringIO
) -> None:
    (tmp_path / "svc.log").rename(tmp_path / "svc.log.1")
    (tmp_path / "svc.log").mkdir()
    file.reopen()
    write(file, "lost otherwise")
    write(file, "and this")
    first, *lost = instead.getvalue().splitlines()
    assert first.startswith("log_file cannot be written (Is a directory)")
    assert lost == ["lost otherwise", "and this"]
    (tmp_path / "svc.log").rmdir()
    write(file, "here again")
    assert (tmp_path / "svc.log").read_text() == "here again\nlog_file is written again\n"
    assert len(instead.getvalue().splitlines()) == 3


def test_a_line_that_fits_in_part_does_not_damage_the_next(
    file: logs.LogFile, tmp_path: Path, instead: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, write_all = 4, os.write

    def full(descriptor: int, data: bytes) -> int:
        nonlocal room
        if not room:
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        taken, room = data[:room], room - len(data[:room])
        return write_all(descriptor, taken)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        for number in range(3):
            write(file, f"line {number}")
    other = logs.LogFile(tmp_path / "svc.log", logging.StreamHandler(instead))
    write(other, "of the other process")
    other.close()
    write(file, "line 3")
    last = ["of the other process", "line 3", "log_file is written again"]
    assert (tmp_path / "svc.log").read_text().splitlines() == ["line", *last]
    assert instead.getvalue().splitlines()[1:] == ["line 0", "line 1", "line 2"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_loses_no_line(instead: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = logs.LogFile(Path("/dev/full"), logging.StreamHandler(instead))
    write(handler, "lost otherwise")
    assert instead.getvalue().endswith("\nlost otherwise\n")
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    assert logs.failed_lines() == 1
    handler.close()
