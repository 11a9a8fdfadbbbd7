"""`policies install | retire`, as the entry point calls them."""

from pathlib import Path

import pytest

from gateway.store import open_read_only
from tests.gateway.cli.support import Command

PRIVATE = "jane.roe@example.org"
ACME = 'id = "acme"\ntitle = "Acme"\nextends = "default"\n'


@pytest.fixture
def policies(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(data_dir, capsys, "policies")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "acme.toml"
    path.write_text(ACME)
    return path


def test_a_file_is_installed_once_and_each_change_is_a_version(policies: Command, file: Path, tmp_path: Path) -> None:
    status, first = policies.json("install", file)
    assert (status, first["id"], first["version"], first["installed"]) == (0, "acme", 1, True)
    assert policies.json("install", file)[1] == first | {"installed": False}
    assert policies("install", file) == (0, f"acme@1 is installed already.\nHash {first['hash']}\n")
    other = tmp_path / "acme.json"
    other.write_text('{"id": "acme", "title": "Acme 2"}')
    assert policies.json("install", other)[1]["version"] == 2
    assert [row["version"] for row in policies.json("list")[1] if row["id"] == "acme"] == [2]
    assert policies.json("diff", first["hash"], "acme")[0] == 1


@pytest.mark.parametrize(
    ("text", "status", "code", "param", "said"),
    [
        (f'id = "acme"\ntitle = "Acme"\ncolour = "{PRIVATE}"', 1, "validation_error", "colour", "unknown field"),
        (
            f"id = {PRIVATE}",
            1,
            "validation_error",
            None,
            "acme.toml: The file is not valid TOML (at line 1, column 6).",
        ),
        ('id = "default"\ntitle = "Mine"', 1, "conflict", "id", "belongs to a built-in policy"),
        (f"{ACME}version = 2\n", 1, "validation_error", "version", "the gateway numbers custom policies"),
        ("#" * 70_000, 1, "body_too_large", None, "larger than 64 KiB"),
    ],
)
def test_what_is_no_policy_is_not_installed(
    policies: Command, file: Path, text: str, status: int, code: str, param: str | None, said: str
) -> None:
    file.write_text(text)
    got, reply = policies.json("install", file)
    error = reply["error"]
    assert (got, error["code"], error["param"]) == (status, code, param)
    assert said in error["message"]
    assert PRIVATE not in error["message"]
    assert "acme" not in [row["id"] for row in policies.json("list")[1]]


def test_a_retired_policy_is_gone_but_stays_explained(policies: Command, file: Path, data_dir: Path) -> None:
    _, made = policies.json("install", file)
    ref = {name: made[name] for name in ("id", "version", "hash")}
    assert policies.json("retire", "acme") == (0, ref | {"retired": True})
    assert policies.json("diff", made["hash"], "acme@1") == (0, {"equal": True, "differences": []})
    for words in (("retire", "acme"), ("diff", "acme", "default")):
        status, reply = policies.json(*words)
        assert (status, reply["error"]["code"]) == (2, "policy_retired")
    with open_read_only(data_dir) as store:
        assert store.read(lambda stored: stored.policies.by_hash(made["hash"])) is not None
    assert policies("install", file)[1].startswith("acme@2 is installed.\n")
    assert policies("retire", "acme") == (
        0,
        "acme@2 is retired, with all earlier versions. Receipts still lead to them.\n",
    )


@pytest.mark.parametrize(("id", "status"), [("default", 1), ("nobody", 2), ("acme", 1)])
def test_what_is_needed_is_not_retired(
    policies: Command,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    id: str,
    status: int,
) -> None:
    policies("install", file)
    key = Command(policies.data_dir, capsys, "keys").json("create", "laptop", "--policy", "acme")[1]["key_id"]
    monkeypatch.setenv("SVC_DEFAULT_POLICY", "acme")
    got, reply = policies.json("retire", id)
    assert got == status
    if id == "acme":
        users = f"the setting `default_policy`, the key `{key}`"
        assert reply["error"]["message"] == f"The policy is needed by {users}. Change these first."
    assert policies.json("retire", id)[0] == status


def test_there_must_be_a_store_to_retire_from(policies: Command, data_dir: Path) -> None:
    assert policies("retire", "acme")[0] == 2
    assert list(data_dir.iterdir()) == []
