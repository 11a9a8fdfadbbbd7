"""`policies list | check | diff | try`, as the entry point calls them."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies
from gateway.store import open_store
from tests.gateway.cli.support import Command, give

ROOT = Path(__file__).parents[3]
EMAIL = "jane.roe@example.org"


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def policies(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(data_dir, capsys, "policies")


@pytest.fixture
def stored(data_dir: Path) -> None:
    """Two versions of a custom policy in the database."""
    store = open_store(data_dir)
    registry = PolicyRegistry(BUILTIN_POLICIES, StoredPolicies(store))
    for description in ("First", "Second"):
        asyncio.run(registry.create({"id": "acme", "title": "Acme [1]", "description": description}))
    store.close()


def test_list(policies: Command, stored: None) -> None:
    status, rows = policies.json("list")
    assert status == 0
    assert [(row["id"], row["version"], row["builtin"]) for row in rows][-1] == ("acme", 2, False)
    assert rows[0]["id"] == "default"
    status, table = policies("list")
    assert status == 0
    assert "hipaa-safe-harbor" in table
    assert "Acme [1]" in table


def test_a_look_makes_no_database(policies: Command, data_dir: Path) -> None:
    assert policies("list")[0] == 0
    assert list(data_dir.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("base", ["gdpr", "default"])
def test_check_accepts_and_warns_of_the_authors_own_rules(policies: Command, tmp_path: Path, base: str) -> None:
    file = tmp_path / "acme.toml"
    file.write_text(f'id = "acme"\ntitle = "Acme"\nextends = "{base}"\n[rules.EMAIL_ADRESS]\naction = "redact"\n')
    status, reply = policies.json("check", str(file))
    assert (status, reply["ok"], reply["policy"]["extends"]["id"]) == (0, True, base)
    (warning,) = reply["warnings"]
    assert (warning["code"], "`EMAIL_ADRESS`" in warning["message"]) == ("unknown_type", True)
    status, text = policies("check", str(file))
    assert status == 0
    assert all(said in text for said in ("acme: accepted.", "Did you mean `EMAIL_ADDRESS`?", reply["policy"]["hash"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "unknown"),
    [
        ({"SVC_DETECTION": "full"}, {"NRP"}),
        ({"SVC_DETECTION": "patterns"}, {"LOCATION", "NRP", "ORGANIZATION"}),
        ({"SVC_DETECTION": "full", "SVC_DETECTION_SERVICE": "http://127.0.0.1:9"}, {"NRP"}),
    ],
)
def test_check_knows_what_the_settings_have_looked_for(
    policies: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], unknown: set[str]
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "acme.toml"
    types = ("EMAIL_ADDRESS", "LOCATION", "NRP", "ORGANIZATION")
    rules = "".join(f'[rules.{name}]\naction = "redact"\n' for name in types)
    file.write_text(f'id = "acme"\ntitle = "Acme"\n{rules}')
    _, reply = policies.json("check", str(file))
    messages = [one["message"] for one in reply["warnings"] if one["code"] == "unknown_type"]
    assert {name for name in types if any(f"`{name}`:" in message for message in messages)} == unknown
    assert all(("detection service" in message) == ("SVC_DETECTION_SERVICE" in settings) for message in messages)


def test_check_of_a_builtin_file_shows_its_real_hash(policies: Command) -> None:
    _, reply = policies.json("check", str(BUILTIN_POLICIES / "default.toml"))
    assert reply["policy"]["hash"] == PolicyRegistry(BUILTIN_POLICIES).get("default").hash


def test_check_refuses_with_the_reason(policies: Command, tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    file.write_text(json.dumps({"id": "acme", "title": EMAIL, "colour": EMAIL}))
    status, reply = policies.json("check", str(file))
    assert (status, reply["ok"]) == (1, False)
    assert (reply["error"]["param"], reply["error"]["code"]) == ("colour", "validation_error")
    status, out = policies("check", str(file))
    assert (status, out) == (1, "")
    assert "unknown field" in policies.errors
    assert EMAIL not in policies.errors


def test_diff(policies: Command, stored: None) -> None:
    status, reply = policies.json("diff", "acme@1", "acme")
    assert status == 1
    assert {one["path"] for one in reply["differences"]} == {"description", "version", "hash"}
    status, table = policies("diff", "default", "pci")
    assert status == 1
    assert "rules.CREDIT_CARD.action" in table
    assert "patterns.security-code.regex" in table
    default = PolicyRegistry(BUILTIN_POLICIES).get("default")
    assert policies.json("diff", "default", default.hash) == (0, {"equal": True, "differences": []})
    assert policies("diff", "default", "default@3")[0] == 0


@pytest.mark.parametrize("name", ["nobody", "default@9", "default@x9", "default@", "default@" + "9" * 5000, "0" * 64])
def test_no_such_policy(policies: Command, name: str) -> None:
    status, reply = policies.json("diff", "default", name)
    assert (status, reply["error"]["code"]) == (2, "policy_not_found")
    assert ("`policies list`" in reply["error"]["message"]) is (reply["error"]["param"] == "policy_id")


def test_try_shows_what_would_leave(policies: Command) -> None:
    status, reply = policies.json("try", "default", "--text", f"Write to {EMAIL} 😀.")
    assert status == 0
    assert reply["protected_text"].startswith("Write to [EMAIL_ADDRESS_")
    assert reply["protected_text"].endswith("] 😀.")
    (change,) = [one for one in reply["transformations"] if one["type"] == "EMAIL_ADDRESS"]
    assert (change["action"], change["start"], change["end"]) == ("placeholder", 9, 9 + len(EMAIL))
    assert reply["policy"]["id"] == "default"
    status, text = policies("try", "default", "--text", f"Write to {EMAIL}.")
    assert status == 0
    assert f"Write to [1:{EMAIL}]." in text
    assert "It has the form of its type." in text
    assert "Write to [EMAIL_ADDRESS_" in text


def test_try_searches_as_the_gateway_does(policies: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the settings say otherwise, with the model of names."""
    trial = ("try", "default", "--text", "I met Karl Anders in Berlin at Siemens.")
    done = policies.json(*trial)[1]
    assert "Karl" not in done["protected_text"]
    assert "names" in {one["recognizer"] for one in done["kept"]}
    monkeypatch.setenv("SVC_DETECTION", "patterns")
    assert "names" not in {one["recognizer"] for one in policies.json(*trial)[1]["kept"]}


@pytest.mark.slow
def test_try_in_strict_mode_and_from_standard_input(
    policies: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "acme.toml"
    file.write_text(
        'id = "acme"\ntitle = "Acme"\n[otherwise]\naction = "keep"\n[strict.rules.contact]\naction = "redact"\n'
    )
    give(monkeypatch, EMAIL.encode())
    assert policies.json("try", str(file), "--text", "-")[1]["protected_text"] == EMAIL
    give(monkeypatch, EMAIL.encode())
    _, reply = policies.json("try", str(file), "--text", "-", "--mode", "strict")
    assert reply["protected_text"] == "[EMAIL_ADDRESS removed]"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_try_reads_standard_input_as_utf8_as_it_is(
    policies: Command, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    give(monkeypatch, "Köln\r\n\U0001f600".encode(), encoding)
    assert policies.json("try", "default", "--text", "-")[1]["protected_text"] == "Köln\r\n\U0001f600"
    give(monkeypatch, b"K\xf6ln", encoding)
    status, reply = policies.json("try", "default", "--text", "-")
    assert (status, reply["error"]["param"]) == (2, "text")
    give(monkeypatch, None)
    assert policies.json("try", "default", "--text", "-")[1]["protected_text"] == ""


def test_try_takes_and_prints_a_text_in_any_locale(tmp_path: Path) -> None:
    def trial(text: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
        ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "SVC_DETECTION": "patterns"}
        command: list[str | bytes | Path] = [sys.executable, "run_proxy.py", "policies", "try", "default"]
        command += ["--data-dir", tmp_path, *words, "--text", text]
        return subprocess.run(command, env=os.environ | ascii_only, capture_output=True, cwd=ROOT, check=False)

    assert json.loads(trial("Köln".encode(), "--json").stdout)["protected_text"] == "Köln"
    assert trial("Köln".encode()).stdout.endswith(b"K\\xf6ln\n")
    refused = trial(b"K\xf6ln")
    assert refused.returncode == 2
    assert b"argument --text: must be UTF-8 text" in refused.stderr


def test_try_says_when_nothing_would_leave(policies: Command) -> None:
    status, reply = policies.json("try", "pci", "--text", "CVV: 123")
    assert status == 0
    assert reply["protected_text"] is None
    assert "CVV" in reply["blocked"]
    assert "Nothing would leave." in policies("try", "pci", "--text", "CVV: 123")[1]


def test_an_unsound_folder_is_reported(policies: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "policies"
    shutil.copytree(BUILTIN_POLICIES, folder)
    (folder / "zzz.toml").write_text("id = ")
    monkeypatch.setenv("SVC_POLICIES_DIR", str(folder))
    assert policies("list") == (1, "")
    assert "zzz.toml: The file is not valid TOML" in policies.errors


def test_a_path_is_distinguished_from_an_id(policies: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("x", encoding="utf-8")
    for name in ("notes.md", "./notes.md"):
        assert policies("check", name) == (1, "")
        assert policies.errors == "notes.md: The name of a policy file must end in .toml or .json.\n"
    for name in ("./notes", "folder/acme.toml", "acme.toml"):
        assert policies("check", name) == (2, "")
        assert policies.errors == f"{Path(name)}: No such file or directory\n"
    assert policies("check", "notes") == (2, "")
    assert "There is no such policy." in policies.errors
