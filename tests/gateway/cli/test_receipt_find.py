"""`receipts find`: the value comes from standard input or a prompt."""

import asyncio
import io
from pathlib import Path

import pytest

from gateway.config.installation_key import FILE, installation_key
from gateway.config.settings import load_settings
from gateway.protection.value_digests import LONGEST_VALUE, ValueDigests
from gateway.receipt_log.log import ReceiptLog
from tests.gateway.cli.support import DEFAULT, Command
from tests.gateway.receipt_log.support import draft, opened

pytestmark = pytest.mark.slow

MAIL = "anna.schmidt@acme.test"


@pytest.fixture(autouse=True)
def _narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def found(data_dir: Path) -> list[str]:
    """Two receipts of one value, the newest first."""
    digests = ValueDigests(installation_key(load_settings(None, data_dir=data_dir)))
    drafts = [draft(policy=DEFAULT) for _ in range(3)]

    async def fill(log: ReceiptLog) -> None:
        log.use_value_key(digests.mark)
        for made, value in zip(drafts, (MAIL, MAIL.title(), "bert@acme.test"), strict=True):
            await log.append(made, "key_anna", lambda value=value: digests.digests([value]))

    with opened(data_dir) as log:
        asyncio.run(fill(log))
    return [made.request_id for made in drafts[1::-1]]


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


def test_a_value_from_standard_input(command: Command, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, f"{MAIL.upper()}\r\n".encode())
    status, page = command.json("receipts", "find")
    assert status == 0
    assert [row["request_id"] for row in page["data"]] == found
    assert {name: page[name] for name in page if name != "data"} == {
        **{"object": "list", "total": 2, "limit": 20, "offset": 0},
        "complete": True,
    }
    give(monkeypatch, MAIL.encode())
    status, table = command("receipts", "find", "--limit", "1", "--offset", "1")
    assert (found[0] in table, found[1] in table) == (False, True)
    assert "2-2 of 2, newest first" in table
    assert MAIL not in table
    assert "may be missing" not in table


def test_a_value_from_the_terminal(command: Command, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, b"")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("gateway.cli.receipt_lists.getpass", lambda _: MAIL)
    assert command.json("receipts", "find")[1]["total"] == 2

    def closed(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("gateway.cli.receipt_lists.getpass", closed)
    assert command.json("receipts", "find")[0] == 2


@pytest.mark.parametrize("content", [b"", b"\n", b"x" * (LONGEST_VALUE + 1), b"anna\xff@acme.test"])
def test_what_is_no_value(command: Command, found: list[str], monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    give(monkeypatch, content)
    status, reply = command.json("receipts", "find")
    assert (status, reply["error"]["param"]) == (2, "value")
    assert "anna" not in str(reply)


def test_a_value_is_never_an_argument(command: Command, found: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command("receipts", "find", MAIL)
    assert ended.value.code == 2


def test_after_the_key_was_rotated_receipts_may_be_missing(
    command: Command, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("keys", "rotate", "installation")[0] == 0
    give(monkeypatch, MAIL.encode())
    status, table = command("receipts", "find")
    assert status == 0
    assert "0-0 of 0" in table
    assert "Receipts may be missing" in table


def test_no_key_is_made_in_the_place_of_a_lost_one(
    command: Command, found: list[str], data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data_dir / FILE).unlink()
    give(monkeypatch, MAIL.encode())
    assert command.json("receipts", "find")[0] == 2
    assert not (data_dir / FILE).exists()


def test_a_closed_standard_input(command: Command, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    status, reply = command.json("receipts", "find")
    assert (status, reply["error"]["param"]) == (2, "value")
