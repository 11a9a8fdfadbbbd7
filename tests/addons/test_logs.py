"""Nothing that others write to the log can hold what a client sent."""

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest
from mitmproxy.addons.disable_h2c import DisableH2C
from mitmproxy.http import Headers
from mitmproxy.test import tflow, tutils

from addons import logs

CANARY = "canary-4711"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Yields the log as JSON lines; the state of `logging` is restored at the end."""
    root, factory = logging.getLogger(), logging.getLogRecordFactory()
    handlers, filters, level = list(root.handlers), list(root.filters), root.level
    levels = {name: logging.getLogger(name).level for name in logging.Logger.manager.loggerDict}
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logs.set_up_logging("debug", json_lines=True)
    yield stream
    logging.setLogRecordFactory(factory)
    root.handlers[:], root.filters[:] = handlers, filters
    root.setLevel(level)
    for name in logging.Logger.manager.loggerDict:
        logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))


def lines(stream: io.StringIO) -> list[dict[str, str]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize(
    "name",
    [
        "mitmproxy.proxy.server",
        "mitmproxy.addonmanager",
        "tornado.general",
        "asyncio",
        "uvicorn.error",
        "httpx",
        "hpack",
    ],
)
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
    assert said[2]["message"].endswith("(ValueError)")
    assert CANARY not in written.getvalue()


def test_what_is_no_client_hello_is_named_and_not_quoted(written: io.StringIO) -> None:
    speaker = logging.getLogger("mitmproxy.proxy.server")
    speaker.warning("Client TLS handshake failed. Cannot parse ClientHello: " + CANARY)
    assert [line["message"] for line in lines(written)] == ["Client TLS handshake failed. Cannot parse ClientHello"]


@pytest.mark.parametrize("trust", ["does not trust", "may not trust"])
def test_the_name_that_a_client_asked_for_is_not_logged(written: io.StringIO, trust: str) -> None:
    message = f"Client TLS handshake failed. The client {trust} the proxy's certificate"
    logging.getLogger("mitmproxy.proxy.server").warning(f"{message} for {CANARY} (tlsv1 alert unknown ca)")
    assert [line["message"] for line in lines(written)] == [message]


def test_chatter_and_access_logs_stay_out(written: io.StringIO) -> None:
    logging.getLogger("mitmproxy.proxy.server").info(CANARY)
    logging.getLogger("tornado.access").error(CANARY)
    logging.getLogger("uvicorn.access").error(CANARY)
    assert written.getvalue() == ""


def test_our_own_records_keep_their_words_and_lose_the_exceptions_text(written: io.StringIO) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger("gateway.store").exception("the store failed: %s", "disk full")
    assert [line["message"] for line in lines(written)] == ["the store failed: disk full"]
    assert CANARY not in written.getvalue()


def test_what_speaks_of_the_start_is_left(written: io.StringIO) -> None:
    logging.getLogger("mitmproxy.addons.errorcheck").error("address already in use")
    logging.getLogger("mitmproxy.proxy.server").warning(
        "Client TLS handshake failed. The client does not trust the proxy's certificate for api.example."
    )
    assert [line["message"][:16] for line in lines(written)] == ["address already ", "Client TLS hands"]


@pytest.mark.parametrize("module", ["master", "webaddons"])
def test_mitmweb_s_address_with_its_token_is_not_logged(written: io.StringIO, module: str) -> None:
    logging.getLogger(f"mitmproxy.tools.web.{module}").warning(f"Web server listening at http://h/?token={CANARY}")
    assert CANARY not in written.getvalue()
    assert len(lines(written)) == 1


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
