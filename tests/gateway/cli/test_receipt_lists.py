"""`receipts list` and `receipts find`: pages of receipts. The value comes from standard input or a prompt."""

import asyncio
from pathlib import Path

import pytest

from gateway.config.installation_key import FILE, installation_key
from gateway.config.loading import load_settings
from gateway.models import PolicyRef
from gateway.protection.value_digests import LONGEST_VALUE, ValueDigests
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts.drafts import OutcomeDraft
from tests.gateway.cli.support import DEFAULT, Command, give
from tests.gateway.receipt_log.support import draft, opened

pytestmark = pytest.mark.slow

MAIL = "anna.schmidt@acme.test"


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


def test_list_is_newest_first_and_cuts_no_id_off(command: Command, ids: list[str]) -> None:
    status, page = command.json("receipts", "list", "--limit", "2")
    assert status == 0
    assert [row["request_id"] for row in page["data"]] == ids[:0:-1]
    assert (page["total"], page["limit"], page["offset"]) == (3, 2, 0)
    _, page = command.json("receipts", "list", "--offset", "2")
    assert page["data"][0]["outcome"]["outcome"] == "answered"
    status, table = command("receipts", "list")
    assert status == 0
    assert all(id in table for id in ids)
    assert {"reconstruct", "playground", "protected", "answered", "medium"} <= set(table.split())
    assert "1-3 of 3, newest first" in table
    assert command("receipts", "list", "--offset", "3")[1].splitlines()[-1] == "none beyond the 3 that there are"
    assert max(map(len, table.splitlines())) <= 80


def test_a_filter_and_what_a_refusal_says(command: Command, data_dir: Path) -> None:
    long = {"model": "m" * 128, "api_key_id": "key_" + "a" * 64}
    refused = draft(policy=PolicyRef("p" * 30 + "-of-" + "q" * 30, 12, "a1" * 32), parties=long)
    with opened(data_dir) as log:
        asyncio.run(log.append(refused, long["api_key_id"]))
        asyncio.run(log.append(draft(parties={"api_key_id": "key_b"}), "key_b"))
        log.append_outcome(
            refused.request_id, OutcomeDraft("refused", code="unsupported_media_type"), long["api_key_id"]
        )
    for words in (("--outcome", "refused"), ("--key", long["api_key_id"], "--since", "1h", "--operation", "chat")):
        status, page = command.json("receipts", "list", *words)
        assert (status, [row["request_id"] for row in page["data"]], page["total"]) == (0, [refused.request_id], 1)
    status, table = command("receipts", "list", "--outcome", "refused", "--outcome", "failed")
    lines = table.splitlines()[1:-1]
    assert (status, max(map(len, lines)) <= 80) == (0, True)
    assert "".join(line[48:60].strip() for line in lines) == f"chat{refused.policy.id}@12"
    assert [line[60:].strip() for line in lines[:3]] == ["refused", "unsupported_media_ty", "pe"]
    assert lines[1].startswith("key_aaaa…aaaaaaaa, mmmmmmmm…mmmmmmmm ")
    assert command.json("receipts", "list", "--type", "PERSON", "--limit", "1")[1]["total"] == 2
    status, said = command("receipts", "list", "--key", "unknown", "--policy", "strict", "--policy", "code")
    assert (status, said) == (0, "No receipts with key unknown, policy strict, code.\n")


def test_an_unknown_word_is_refused_without_repeating_it(command: Command, ids: list[str]) -> None:
    for name, words in (("outcome", "one of answered, cancelled"), ("type", "found here, EMAIL_ADDRESS, PERSON, or")):
        for action in (("receipts", "list"), ("usage",)):
            status, reply = command.json(*action, f"--{name}", "SHOE_SIZE")
            assert (status, reply["error"]["code"], reply["error"]["param"]) == (2, "validation_error", name)
            assert words in reply["error"]["message"] and "SHOE" not in reply["error"]["message"]


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
    monkeypatch.setattr("gateway.cli.console.getpass", lambda _: MAIL)
    assert command.json("receipts", "find")[1]["total"] == 2

    def closed(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("gateway.cli.console.getpass", closed)
    assert command.json("receipts", "find")[0] == 2


@pytest.mark.parametrize("content", [b"", b"\n", b"x" * (LONGEST_VALUE + 1), b"anna\xff@acme.test", None])
def test_input_that_is_no_value_is_refused(
    command: Command, found: list[str], monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    give(monkeypatch, content)
    status, reply = command.json("receipts", "find")
    assert (status, reply["error"]["param"]) == (2, "value")
    assert "anna" not in str(reply)


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
