"""Settings that cannot be used and wrong usage are reported in the same way by all commands, and so are pages."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import run_proxy
from tests.conftest import ROOT
from tests.gateway.cli.support import Command

COMMANDS = [
    ["keys", "list"],
    ["keys", "rotate", "--signing"],
    ["policies", "list"],
    ["receipts", "list"],
    ["receipts", "prune", "--before", "2026-01-01"],
    ["usage"],
    ["backup", "FILE"],
    ["restore", "FILE"],
    ["doctor"],
    ["ca"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_unusable_settings_are_reported_in_json_on_request(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text("no_such_setting = 'Zebulon Quagmire'\n")
    assert run_proxy.main([*words, "--json", "--config", str(config), "--data-dir", str(tmp_path / "data")]) == 2
    said = capsys.readouterr()
    reply = json.loads(said.out)
    assert (reply["ok"], reply["error"]["code"]) == (False, "unusable_settings")
    assert "no_such_setting" in reply["error"]["message"]
    assert run_proxy.main([*words, "--config", str(config), "--data-dir", str(tmp_path / "data")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "no_such_setting" in shown.err
    assert "Quagmire" not in said.out + said.err + shown.err


@pytest.mark.parametrize("words", [["receipts", "list"], ["keys", "audit"]], ids=" ".join)
@pytest.mark.parametrize(
    "page", [("--limit", "0"), ("--limit", "501"), ("--limit", "x"), ("--offset", "-1")], ids=" ".join
)
def test_a_page_has_bounds(words: list[str], page: tuple[str, str], command: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        command(*words, *page)
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "words",
    ["receipts find Quagmire --value=Quagmire", "receipts list --js", "receipts list --lim 5", "usage --conf x"],
)
def test_a_word_too_many_or_cut_short_is_refused_and_not_repeated(
    words: str, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command(*words.split())
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "unrecognized arguments: " in said
    assert "Quagmire" not in said


def test_wrong_usage_is_reported_in_json_on_request(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = (["receipts", "list", "--limit", "Quagmire"], ["keys"], ["keys", "Quagmire"], ["usage", "--value=Quagmire"])
    for words in (*wrong, ["receipts", "list", "--limit", "0"], ["Quagmire"]):
        with pytest.raises(SystemExit) as ended:
            command.json(*words)
        assert ended.value.code == 2
        said = capsys.readouterr()
        reply = json.loads(said.out)
        assert (reply["ok"], reply["error"]["code"]) == (False, "usage")
        assert "Quagmire" not in said.out + said.err
        assert said.err == ""


def test_the_options_of_another_program_are_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_proxy.main(["exec", "--wrong", "--", "curl", "--json", "{}"])
    said = capsys.readouterr()
    assert said.out == ""
    assert "unrecognized arguments: --wrong" in said.err
    with pytest.raises(SystemExit):
        run_proxy.main(["--no-we"])


UNSHOWN = [
    ["keys", "create", "laptop"],
    ["keys", "create", "laptop", "--json"],
    ["keys", "list", "--json"],
    ["usage", "--json"],
    ["receipts", "export"],
    ["policies", "list"],
]


@pytest.mark.slow
@pytest.mark.parametrize("words", UNSHOWN, ids=" ".join)
def test_output_that_cannot_be_written_is_reported_in_one_line(
    words: list[str], command: Command, ids: list[str]
) -> None:
    program = shlex.join([sys.executable, str(ROOT / "run_proxy.py"), *words, "--data-dir", str(command.data_dir)])
    done = subprocess.run(["/bin/sh", "-c", f"{program} >/dev/full"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"standard output: No space left on device(; key_\w+ is revoked again.*)?\n", done.stderr)
    _, keys = command.json("keys", "list")
    assert len(keys) == words.count("create")
    assert all(key["revoked_at"] and key["key_id"] in done.stderr for key in keys)
    if words == UNSHOWN[-1]:
        left = subprocess.run(["/bin/sh", "-c", f"{program} | :"], capture_output=True, text=True, check=False)
        assert left.stderr == "", "a reader that leaves early is no failure"


@pytest.mark.slow
def test_commands_load_no_store_that_they_do_not_read_and_no_numpy_with_it() -> None:
    """Loading it takes longer than all that they do; so does what `serve` does before it says that it starts."""
    program = (
        "import sys, run_proxy, addons.logs\nfor each in ('--version', 'ca', 'env', 'exec'): run_proxy._parser(each)\n"
    )
    program += "print({'gateway.store', 'gateway.detection', 'numpy'} & sys.modules.keys())\n"
    program += "run_proxy._parser('--help'); print({'gateway.store', 'numpy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n{'gateway.store'}\n"
