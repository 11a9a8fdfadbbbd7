"""`inspect`: its arguments, and the status that it ends with. `tests/e2e/test_inspect.py` runs it."""

import io
import re
import shlex
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.cli import inspect
from gateway.cli.inspection.forbidden import Forbidden
from gateway.cli.inspection.records import Records
from gateway.cli.inspection.report import Report
from gateway.config.settings import SettingsError
from gateway.programs import NOT_EXECUTABLE, NOT_FOUND
from run_proxy import _parser, main
from tests.conftest import ROOT
from tests.gateway.cli.inspection.support import CARD, chat, ended, sending
from tests.gateway.cli.support import Command

TUNNEL = {"event": "tunnel", "host": "other.example", "port": 443, "sent": 9, "received": 9}
SENT = (sending(chat("Hi")), ended())


@pytest.mark.parametrize(
    ("events", "allowed", "status", "words"),
    [
        (SENT, [], 0, "No forbidden value was sent, in 1 request."),
        ((sending(chat(CARD)), ended(), TUNNEL), [], 110, "of line 7."),
        ((*SENT, {**TUNNEL, "host": f"{CARD}.example"}), ["*"], 110, "is in host, as it is of a tunnel"),
        ((*SENT, TUNNEL), [], 111, "--allow-tunnel other.example"),
        ((*SENT, TUNNEL), ["*.other.example"], 111, "--allow-tunnel other.example"),
        ((*SENT, TUNNEL), ["other.example"], 0, "No forbidden value"),
        ((*SENT, TUNNEL), ["*"], 0, "No forbidden value"),
        ((*SENT, {**TUNNEL, "sent": 0}), [], 0, "No forbidden value"),
        ((), [], 111, "Nothing reached the gateway"),
        ((ended(request_id="x", code="text_refused"),), [], 0, "in 0 requests"),
    ],
)
def test_the_status_tells_what_was_found(events: Any, allowed: list[str], status: int, words: str) -> None:
    records, report = Records(), Report(io.StringIO(), Forbidden({7: CARD}))
    for event in events:
        records.take(event)
    for sent in records.sent:
        report.request(sent)
    matcher = inspect._allowed(allowed)
    found, verdict = inspect._judged(report, records, matcher, well=True)
    assert (found, words in verdict) == (status, True), verdict
    assert CARD not in verdict
    assert inspect._judged(report, records, matcher, well=False)[0] == 125


def test_what_cannot_be_searched_is_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.cli.inspection.spellings._SPARE", 0)
    monkeypatch.setattr("gateway.cli.inspection.spellings._EXPANSION", 0)
    records, report = Records(), Report(io.StringIO(), Forbidden({1: "abcd"}))
    records.take(sending(chat("%20%20%20%20%20%20")))
    report.request(records.sent[0])
    status, verdict = inspect._judged(report, records, inspect._allowed([]), well=True)
    assert (status, "not everything could be searched" in verdict) == (111, True)


@pytest.mark.parametrize(
    ("line", "allowed", "status"),
    [
        ("curl (7) connects to 192.0.2.1:443, past the gateway", [], 111),
        ("curl (7) connects to 192.0.2.1:443, past the gateway", ["192.0.2.1:443"], 0),
        ("curl (7) sends datagrams to [2001:db8::1]:443, past the gateway", ["[2001:db8::1]:8443"], 111),
        ("curl (7) sends datagrams to [2001:db8::1]:443, past the gateway", ["[2001:db8::1]"], 0),
        ("curl (7) looks host names up at 192.0.2.1:53, past the gateway", [], 0),
    ],
)
def test_connections_past_the_gateway_are_not_searched(line: str, allowed: list[str], status: int) -> None:
    file = io.StringIO()
    records, report = Records(), Report(file, Forbidden({1: CARD}))
    for event in SENT:
        records.take(event)
    records.past.append(line)
    assert inspect._judged(report, records, inspect._allowed(allowed), well=True)[0] == status
    report.summary(records, [], "")
    assert f"unseen and unprotected:\n   {line}\n" in file.getvalue()


def test_without_forbidden_values_the_status_is_the_programs() -> None:
    records, report = Records(), Report(io.StringIO(), Forbidden({}))
    records.take(TUNNEL)
    assert inspect._judged(report, records, inspect._allowed([]), well=True) == (0, "")


def test_nothing_starts_with_arguments_that_cannot_be_used(
    installed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect, "private_gateway", lambda *_, **__: pytest.fail("it started"))
    (tmp_path / "short").write_text("abc")
    for words, status, error in (
        (("--", "no-such-program"), 127, "there is no such program"),
        (("--forbid", tmp_path / "short", "--", "true"), 2, "line 1 has less than 4 characters"),
        (("--forbid", tmp_path / "none", "--", "true"), 2, "No such file"),
        (("--allow-tunnel", "*.com", "--", "true"), 2, "--allow-tunnel: write out the last two labels"),
        (("--output", tmp_path / "none" / "file", "--", "true"), 2, "No such file"),
    ):
        assert inspected(installed, *words) == status
        assert error in installed.errors, installed.errors


def inspected(installed: Command, *words: object) -> int:
    """Runs the command, whose own options come before the program."""
    status = main(["inspect", *installed.folders, *map(str, words)])
    installed.errors = installed._capsys.readouterr().err
    return status


def test_the_program_gets_the_gateways_variables_and_the_report_follows_it(
    installed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def started(settings: Any, *, take: Any, **_: Any) -> Any:
        own = settings.model_copy(update={"gateway_port": 8001, "proxy_port": 8002})
        gateway = SimpleNamespace(wait_until_ready=lambda: own, ended_well=True, is_lost=False)
        yield gateway, "svck_new", ["a note"]
        take(SENT[0])

    monkeypatch.setattr(inspect, "private_gateway", started)
    code = "echo $OPENAI_BASE_URL $OPENAI_API_KEY $HTTPS_PROXY $PRIVACY_GATEWAY_KEY; exit 7"
    assert inspected(installed, "--through", "both", "--", "sh", "-c", code) == 7
    assert "a note" in installed.errors
    assert "no answer yet" in installed.errors
    assert inspected(installed, "--", "sh", "-c", code) == 7


def test_the_page_shows_commands_that_can_be_used_and_every_status() -> None:
    page = (ROOT / "docs" / "inspect.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\.venv/bin/python run_proxy\.py (inspect .*)$", page, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        options, unknown = _parser("inspect").parse_known_args(shlex.split(command))
        assert (unknown, options.program[0] in {"claude", "codex", "pytest"}) == ([], True)
    named = set(re.findall(r"`(--[a-z-]+)", page))
    assert {"--full", "--forbid"} <= named <= set(re.findall(r"--[a-z-]+", _help()))
    statuses = {int(each) for row in re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE) for each in row.split(", ")}
    assert statuses == {inspect.FOUND, inspect.UNSEARCHED, inspect.FAILED, NOT_EXECUTABLE, NOT_FOUND}


def _help() -> str:
    shown = io.StringIO()
    with redirect_stdout(shown), pytest.raises(SystemExit):
        _parser("inspect").parse_args(["inspect", "--help"])
    return shown.getvalue()


def test_a_gateway_that_does_not_start_is_a_failure_of_its_own(
    installed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def started(*_: Any, **__: Any) -> Any:
        def wait() -> None:
            raise SettingsError("certs_dir: no")

        yield SimpleNamespace(wait_until_ready=wait, ended_well=False), "svck_new", []

    monkeypatch.setattr(inspect, "private_gateway", started)
    assert inspected(installed, "--", "true") == 125
    assert installed.errors == "Cannot inspect:\ncerts_dir: no\n"
