"""The gateway of a program has what the installation has, serves on loopback, and leaves no file."""

import asyncio
import os
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.auth.api_keys import KeyRing
from gateway.cli.inspection import private_gateway as module
from gateway.cli.inspection.private_gateway import private_gateway
from gateway.config.installation_key import installation_key
from gateway.config.loading import load_settings
from gateway.config.locations import BUILTIN_POLICIES
from gateway.config.settings import Settings, SettingsError
from gateway.corrections.stored import EVERYONE, StoredCorrections
from gateway.models import Scope
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies
from gateway.store import open_store

# Stands for the process: says what it was given, and then what `{0}` does.
PROGRAM = """\
import sys; sys.path[:] = PATH
import json, pickle
settings, answers = pickle.load(sys.stdin.buffer)
def tell(**event): print(json.dumps(event), flush=True)
{0}
sys.stdin.buffer.read()
tell(event="end")
"""
READY = "tell(event='ready', ports=[8001, 8002])"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """An installation with a key and a custom policy."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    settings = load_settings(
        data_dir=tmp_path / "data", certs_dir=tmp_path / "certs", proxy_key=True, modes=("socks5",)
    )
    installation_key(settings)
    with closing(open_store(settings.data_dir)) as store:
        registry = PolicyRegistry(BUILTIN_POLICIES, StoredPolicies(store))
        for id in ("acme", "retired"):
            asyncio.run(registry.create({"id": id, "title": "Acme", "extends": "default"}))
        StoredPolicies(store).retire("retired", 1)
        corrections = StoredCorrections(store, installation_key(settings))
        asyncio.run(corrections.add(EVERYONE, "allow", ["Bluebird"], "PERSON"))
    return settings


def run(monkeypatch: pytest.MonkeyPatch, settings: Settings, does: str, policy: str | None = None) -> Sequence[Any]:
    """Returns the settings that the gateway had, those with its ports, the events, and the notes."""
    monkeypatch.setattr(module, "_PROGRAM", PROGRAM.format(does).replace("PATH", "{path}"))
    events: list[Any] = []
    with private_gateway(settings, policy=policy, keeps_answers=True, take=events.append) as (gateway, key, notes):
        folder = gateway.settings.data_dir
        assert folder.stat().st_mode & 0o777 == 0o700
        served = gateway.wait_until_ready()
        with closing(open_store(folder)) as store:
            keys = KeyRing(store)
            asyncio.run(keys.load())
            assert keys.authenticate(key).scope is Scope.CLIENT
            policies = [each.id for each in PolicyRegistry(BUILTIN_POLICIES, StoredPolicies(store)).list()]
            corrected = bool(StoredCorrections(store, installation_key(gateway.settings)).of("key_1"))
    assert not folder.exists()
    return gateway, served, events, list(notes), policies, corrected


def test_it_has_what_the_installation_has(installed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway, served, events, notes, policies, corrected = run(monkeypatch, installed, READY, policy="acme")
    assert (served.gateway_port, served.proxy_port, served.default_policy) == (8001, 8002, "acme")
    own = gateway.settings
    assert (own.web, own.proxy_key, own.modes, own.certs_dir) == (False, False, (), installed.certs_dir)
    assert (gateway.ended_well, notes, "acme" in policies) == (True, [], True)
    assert [event["event"] for event in events] == ["ready", "end"]
    assert corrected
    assert "retired" not in policies


def test_without_an_installation_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(data_dir=tmp_path / "data", certs_dir=tmp_path / "certs")
    _, _, _, notes, policies, _ = run(monkeypatch, settings, READY)
    assert (notes, "default" in policies, settings.data_dir.exists()) == ([], True, False)


def test_a_store_that_cannot_be_read_is_noted(installed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    (installed.data_dir / "gateway.db").write_bytes(b"no database at all" * 100)
    _, _, _, notes, policies, _ = run(monkeypatch, installed, READY)
    assert ("cannot be read" in notes[0], "acme" in policies) == (True, False)


@pytest.mark.parametrize(
    ("does", "problem"),
    [
        ("tell(event='failed', problems=['certs_dir: no']); sys.exit()", "certs_dir: no"),
        ("sys.exit('broken at the start')", "did not start\nbroken at the start"),
    ],
)
def test_a_failed_start_says_why(does: str, problem: str, installed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=problem):
        run(monkeypatch, installed, does)
    assert list(Path(os.environ["TMPDIR"]).iterdir()) == []


def test_a_start_that_fails_without_a_reason_is_tried_again(
    installed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = "import pathlib; mark = settings.data_dir / 'tried'"
    does = f"{once}\nif not mark.exists(): sys.exit(mark.write_text('x'))\n{READY}"
    gateway, served, *_ = run(monkeypatch, installed, does)
    assert (served.gateway_port, gateway.ended_well) == (8001, True)


def test_its_end_is_noticed_and_a_hanging_one_is_killed(installed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STOP_SECONDS", 1.0)
    lost = threading.Event()
    for does, well in (
        (f"import time\n{READY}\ntime.sleep(0.3)\nsys.exit()", True),
        (f"import time\n{READY}\ntime.sleep(60)", False),
    ):
        monkeypatch.setattr(module, "_PROGRAM", PROGRAM.format(does).replace("PATH", "{path}"))
        with private_gateway(installed, policy=None, keeps_answers=False, take=lambda _: None) as (gateway, _, _):
            gateway.lost = lost.set
            gateway.wait_until_ready()
            assert lost.wait(10) or not well
            assert gateway.is_lost is well
        assert not gateway.ended_well
        lost.set()
