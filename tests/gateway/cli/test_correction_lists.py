"""`allow …` and `deny …`, through the entry point: values are read, never shown, and stay out of every file."""

from pathlib import Path

import pytest

from gateway.config.installation_key import installation_key
from gateway.config.loading import load_settings
from gateway.corrections.given import Given
from gateway.corrections.lists import Corrections
from gateway.corrections.stored import StoredCorrections
from gateway.store import open_store
from gateway.store.rows import CorrectionRow
from tests.gateway.cli.support import Command, give

CANARY = "canary-7f3a@acme.test"


@pytest.fixture(autouse=True)
def _store(data_dir: Path) -> None:
    open_store(data_dir).close()


def told(data_dir: Path, key_id: str) -> tuple[bool, int]:
    """Returns whether the value is allowed for a key, and how often it is denied."""
    store = open_store(data_dir)
    try:
        lists = StoredCorrections(store, installation_key(load_settings(data_dir=data_dir))).of(key_id)
        found = Corrections(Given(), lists)
        return found.allows("EMAIL_ADDRESS", CANARY), len(found.find(f"to {CANARY.upper()}"))
    finally:
        store.close()


@pytest.mark.parametrize("kind", ["allow", "deny"])
def test_values_are_added_listed_and_removed(
    command: Command, data_dir: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--type", "EMAIL_ADDRESS")
    file = tmp_path / "values"
    file.write_text(f"\n  {CANARY}\r\nother value\n{CANARY}\n")
    give(monkeypatch, f"{CANARY}\n".encode())
    assert command.json(kind, "add", "-", *words) == (0, {"added": 1, "for": None})
    assert told(data_dir, "key_any") == ((True, 0) if kind == "allow" else (False, 1))
    assert command.json(kind, "add", file, *words) == (0, {"added": 1, "for": None})
    status, out = command(kind, "add", file, *words)
    limit = ", as far as the policy has it in `may_allow`" if kind == "allow" else ""
    assert (status, out) == (
        0,
        f"0 added to the {kind} list of everyone; this holds from the next request on{limit}.\n",
    )

    status, page = command.json(kind, "list")
    assert (status, page["object"], page["total"]) == (0, "list", 2)
    assert {(row["for"], row["type"]) for row in page["data"]} == {(None, "EMAIL_ADDRESS")}
    assert all(set(row) == {"id", "for", "type", "created_at"} for row in page["data"])
    table = command(kind, "list")[1]
    assert all(row["id"] in table for row in page["data"])
    assert "2 in all" in table
    stored = b"".join(each.read_bytes() for each in data_dir.iterdir())
    assert not any(word in stored + table.encode() for word in (b"canary", b"7f3a", b"other value"))

    give(monkeypatch, CANARY.encode())
    assert command.json(kind, "remove", "-") == (0, {"removed": 1})
    assert told(data_dir, "key_any") == (False, 0)
    (left,) = command.json(kind, "list")[1]["data"]
    assert command(kind, "remove", "--id", left["id"]) == (0, "1 removed; this holds from the next request on.\n")
    assert command(kind, "remove", "--id", left["id"])[0] == 1
    assert command(kind, "list") == (0, "0 in all\n")


def test_a_list_of_a_key_ends_with_the_key(command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key_id = command.json("keys", "create", "laptop")[1]["key_id"]
    give(monkeypatch, CANARY.encode())
    assert command.json("allow", "add", "-", "--for", key_id) == (0, {"added": 1, "for": key_id})
    assert told(data_dir, key_id) == (True, 0)
    assert told(data_dir, "key_other") == (False, 0)
    assert command("keys", "rotate", key_id)[0] == 0
    assert command("keys", "rotate", "installation")[0] == 0
    assert told(data_dir, key_id) == (True, 0)
    assert command("keys", "revoke", key_id)[0] == 0
    assert command.json("allow", "list")[1]["total"] == 0
    give(monkeypatch, CANARY.encode())
    status, answer = command.json("allow", "add", "-", "--for", key_id)
    assert (status, answer["error"]["param"]) == (2, "for")


@pytest.mark.parametrize(
    ("words", "given", "param"),
    [
        (("allow", "add", "-"), b"", "file"),
        (("allow", "add", "-"), b"\xff", "values"),
        (("allow", "add", "-"), b"x\n" * 1001, "file"),
        (("allow", "add", "-"), b"canary\n" + b"canary" * 40, "line 2"),
        (("deny", "add", "-", "--type", "canary"), b"x", "--type"),
        (("allow", "add", "-", "--type", "CANARY_TYPE"), b"x", "--type"),
        (("allow", "add", "-", "--type", "API_KEY"), b"x", "--type"),
        (("deny", "remove"), b"x", "file"),
        (("deny", "remove", "-", "--id", "cor_1"), b"x", "file"),
        (("allow", "add", "-", "--for", "key_canary"), b"x", "for"),
    ],
)
def test_unusable_arguments_are_named_without_a_value(
    command: Command, words: tuple[str, ...], given: bytes, param: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, given)
    status, answer = command.json(*words)
    assert (status, answer["error"]["param"]) == (2, param)
    assert "canary" not in str(answer).lower()
    assert "values is" not in str(answer)


def test_values_are_allowed_as_a_type_of_a_policy(
    command: Command, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "allow", "add", "-", "--type", "PROJECTS"
    (tmp_path / "own.toml").write_text('id = "own"\ntitle = "Own"\n[[deny]]\ntype = "PROJECTS"\nterms = ["Aurora"]\n')
    give(monkeypatch, b"Aurora")
    status, answer = command.json(*words)
    assert (status, answer["error"]["param"]) == (2, "--type")
    assert command("policies", "install", tmp_path / "own.toml")[0] == 0
    give(monkeypatch, b"Aurora")
    assert command.json(*words) == (0, {"added": 1, "for": None})
    give(monkeypatch, b"Aurora")
    assert "`PROJECTS`" in command.json(*words[:-1], "PROJECT")[1]["error"]["message"], "did you mean"


def test_a_value_among_the_arguments_is_not_repeated(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is it taken for one: process lists show arguments."""
    with pytest.raises(SystemExit):
        command("allow", "add", "-", CANARY)
    assert "canary" not in "".join(capsys.readouterr())
    status, _ = command("allow", "add", CANARY)
    assert status == 2


def test_altered_lists_are_reset(command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, CANARY.encode())
    command("allow", "add", "-")
    store = open_store(data_dir)
    store.submit(lambda stored: stored.corrections.add([CorrectionRow("c", "", "allow", "", "", b"x")])).result()
    store.close()
    status, answer = command.json("allow", "list")
    assert (status, answer["error"]["code"]) == (1, "corrections_broken")
    assert command("allow", "reset") == (0, "All allow and deny lists are deleted.\n")
    assert command.json("allow", "list")[1]["total"] == 0


def test_lists_are_part_of_a_backup(
    command: Command, log_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation_key(load_settings(data_dir=log_dir))
    for kind in ("allow", "deny"):
        give(monkeypatch, CANARY.encode())
        assert command(kind, "add", "-", *(["--type", "EMAIL_ADDRESS"] if kind == "deny" else []))[0] == 0
    assert command("backup", tmp_path / "gateway.tar")[0] == 0
    assert b"canary" not in (tmp_path / "gateway.tar").read_bytes()
    other = Command(tmp_path / "other" / "data", command._capsys)
    assert other("restore", tmp_path / "gateway.tar")[0] == 0
    assert told(other.data_dir, "key_any") == (True, 1)
