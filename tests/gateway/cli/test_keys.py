"""`keys …` and `ca`, through the entry point."""

import json
import re
from datetime import datetime, timedelta
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from gateway.auth.credential_digests import CredentialDigests
from gateway.config.installation_key import installation_key
from gateway.config.loading import load_settings
from gateway.receipt_log.signing_key import load_signer
from gateway.store import open_store
from gateway.store.rows import KeyCallRow
from run_proxy import main
from tests.gateway.cli.support import Command


def test_a_key_is_made_listed_rotated_and_revoked(command: Command) -> None:
    status, made = command.json("keys", "create", "laptop", "--scope", "operator")
    assert (status, made["label"], made["scope"], made["revoked_at"]) == (0, "laptop", "operator", None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["created_at"])
    secret = made.pop("key")
    assert command.json("keys", "list") == (0, [made])
    status, rotated = command.json("keys", "rotate", made["key_id"], "--overlap", "7d", "--expires", "90d")
    assert (status, rotated["key_id"], rotated["label"]) == (0, made["key_id"], "laptop")
    assert secret != rotated.pop("key")
    assert rotated["previous_until"] < rotated["expires_at"]
    assert command.json("keys", "list") == (0, [rotated])
    assert command.json("keys", "revoke", made["key_id"]) == (0, {"key_id": made["key_id"], "revoked": True})
    status, out = command("keys", "list", "--json")
    assert secret not in out
    assert json.loads(out)[0]["revoked_at"]


def test_a_key_is_restricted(command: Command) -> None:
    words = (
        "--scope chat --scope receipts:read --expires 90d --policy gdpr --model gpt-* --quota requests=9/day".split()
    )
    status, made = command.json("keys", "create", "laptop", *words)
    assert (status, made["scope"], made["policies"], made["models"]) == (0, "chat receipts:read", ["gdpr"], ["gpt-*"])
    assert made["quotas"] == ["requests=9/day"]
    lifetime = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert lifetime == timedelta(days=90)
    made.pop("key")
    assert command.json("keys", "list") == (0, [made])
    table = command("keys", "list")[1]
    assert all(word in table for word in ("receipts:read", "gdpr", "gpt-*", "requests=9/day", made["expires_at"][:10]))


def test_a_key_is_granted_upstreams_that_sign(command: Command, tmp_path: Path) -> None:
    config = tmp_path / "svc.toml"
    credentials = 'aws_access_key_id = "env:A"\naws_secret_access_key = "env:B"\n'
    config.write_text(
        f'[upstreams.aws]\nwire = "bedrock"\nbase_url = "https://bedrock-runtime.us-east-1.amazonaws.com"\n{credentials}'
        '[upstreams.plain]\nwire = "bedrock"\nbase_url = "https://relay.acme.test"\n'
    )
    for name in ("aws", "a*"):
        status, made = command.json("keys", "create", "reports", "--aws-upstream", name, "--config", config)
        assert (status, made["aws_upstreams"]) == (0, [name])
    for name in ("asw", "plain", "p*"):
        assert command("keys", "create", "reports", "--aws-upstream", name, "--config", config)[0] == 2
        assert "--aws-upstream must name an upstream" in command.errors
        assert "choose from `aws`" in command.errors
    assert command("keys", "create", "reports", "--aws-upstream", "aws")[0] == 2
    assert "the settings have none" in command.errors
    assert len(command.json("keys", "list")[1]) == 2


def test_the_installation_key_is_rotated(command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = data_dir / "installation.key"
    assert command("keys", "rotate", "installation")[0] != 0
    assert not file.exists()
    before = installation_key(load_settings(data_dir=data_dir))
    assert command.json("keys", "rotate", "installation") == (0, {"key_id": "installation", "rotated": True})
    assert installation_key(load_settings(data_dir=data_dir)) != before
    assert file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("SVC_INSTALLATION_KEY", "k" * 32)
    assert command("keys", "rotate", "installation")[0] != 0
    assert "installation_key" in command.errors


@pytest.mark.parametrize("which", ["--signing", "installation"])
@pytest.mark.parametrize("option", [("--overlap", "7d"), ("--overlap", "0h"), ("--expires", "90d")])
def test_a_rotation_that_would_ignore_an_option_is_refused(
    which: str, option: tuple[str, str], command: Command, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("keys", "list")
    installation_key(load_settings(data_dir=data_dir))
    load_signer(data_dir)
    before = {file.name: file.read_bytes() for file in data_dir.glob("*.key")}
    with pytest.raises(SystemExit) as ended:
        command("keys", "rotate", which, *option)
    assert ended.value.code == 2
    assert "are for API keys" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in data_dir.glob("*.key")} == before


def test_the_audit_in_words(command: Command, data_dir: Path) -> None:
    made = command.json("keys", "create", "laptop")[1]
    assert command.json("keys", "audit") == (0, [])
    assert command("keys", "audit") == (0, "No uses of keys.\n")
    store = open_store(data_dir)
    row = KeyCallRow("2026-01-02T03:04Z", made["key_id"], "protect", "answered", 7)
    store.submit(
        lambda stored: stored.keys.count_calls(
            [
                row._replace(call="chat-completions", outcome="streaming_not_supported", credential="cred_" + "0" * 16),
                row._replace(key_id="", outcome="unauthorized"),
                row._replace(key_id="proxy_" + "0" * 16, credential="cred_" + "1" * 16, request_id="req_1"),
                row._replace(key_id="proxy_" + "1" * 16),
            ]
        )
    ).result()
    store.close()
    table = command("keys", "audit")[1]
    shown = ("2026-01-02 03:04", made["key_id"], "laptop", "answered", "7", "(invalid)", "cred_" + "0" * 16)
    assert all(word in table for word in (*shown, "cred_" + "1" * 16, "(no credential)"))
    assert max(map(len, table.splitlines())) <= 80
    assert len(command.json("keys", "audit", "--limit", "1")[1]) == 1
    uses = command.json("keys", "audit", "--operation", "chat", "--outcome", "refused", "--key", "laptop")[1]
    assert [use["outcome"] for use in uses] == ["streaming_not_supported"]
    assert command("keys", "audit", "--policy", "strict") == (0, "No uses of keys with policy strict.\n")


def test_the_digest_of_a_credential(command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(text: bytes) -> None:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text)))

    command("keys", "create", "laptop")
    digest = CredentialDigests(installation_key(load_settings(data_dir=data_dir))).digest(b"sk-of-the-provider")
    for text in (b"sk-of-the-provider\n", b"Bearer sk-of-the-provider"):
        given(text)
        assert command("keys", "digest") == (0, f"{digest}\n")
    given(b"sk-of-the-provider")
    assert command.json("keys", "digest") == (0, {"credential": digest})
    given(b"")
    assert command("keys", "digest") == (2, "")
    (data_dir / "installation.key").unlink()
    given(b"sk-of-the-provider")
    assert command("keys", "digest")[0] != 0, "another key would give digests that match nothing"
    assert not (data_dir / "installation.key").exists()


def test_the_list_in_words_fits_a_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out = command("keys", "create", "l" * 64)
    assert status == 0
    key_id, secret = out.split()[0], out.splitlines()[1]
    assert "shown this once" in out
    other = command.json("keys", "create", "ci", "--expires", "90d")[1]["key_id"]
    status, table = command("keys", "list")
    assert (status, [line.split()[0] for line in table.splitlines() if "_" in line]) == (0, [key_id, other])
    assert secret not in table
    assert max(map(len, table.splitlines())) <= 80
    monkeypatch.setenv("COLUMNS", "36")
    assert other in command("keys", "list")[1]
    assert command("keys", "revoke", key_id) == (0, f"{key_id} is revoked.\n")


@pytest.mark.slow
def test_keys_that_cannot_be_made_or_do_not_exist_are_refused(command: Command) -> None:
    for words, code in (
        (("create", ""), "validation_error"),
        (("create", "a", "--scope", "admin"), "validation_error"),
        (("create", "a", "--policy", "default", "--policy", "unknown"), "policy_not_found"),
        (("rotate", "key_unknown"), "not_found"),
        (("revoke", "key_unknown"), "not_found"),
    ):
        expected = 2 if words[0] == "create" else 1
        status, reply = command.json("keys", *words)
        assert (status, reply["ok"], reply["error"]["code"]) == (expected, False, code)
        assert command("keys", *words) == (expected, "")
        assert command.errors


@pytest.mark.slow
def test_the_authority_and_the_proxy_that_is_configured_are_named(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, paths = command.json("ca")
    assert status == 0
    certificate = Path(paths["certificate"]).read_text()
    assert certificate.startswith("-----BEGIN CERTIFICATE-----")
    assert certificate in Path(paths["bundle"]).read_text()
    for name, value, proxy in (
        ("PORT", "9999", "127.0.0.1:9999"),
        ("PORT", "0", "127.0.0.1:PORT"),
        ("HOST", "::1", "[::1]:PORT"),
    ):
        monkeypatch.setenv(f"SVC_PROXY_{name}", value)
        status, words = command("ca")
        assert status == 0
        assert paths["certificate"] in words and f"HTTPS_PROXY=http://{proxy}" in words


@pytest.mark.parametrize("name", ["keys", "ca", "receipts"])
def test_options_before_the_command(name: str, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--data-dir", str(data_dir), name, "list"])
    assert ended.value.code == 2
    assert f"the command comes first: run_proxy.py {name} " in capsys.readouterr().err
