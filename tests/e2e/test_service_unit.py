"""The systemd unit: systemd reads it, and the gateway does what it says and nothing that it forbids."""

import configparser
import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from gateway.config.loading import load_settings
from run_proxy import _parser as command_parser
from tests.e2e.lacking import lacking
from tests.e2e.server import COMMAND, gateway
from tests.e2e.service import SETTINGS, UNIT, unit
from tests.e2e.syscalls import Calls, can_trace, tracing

_EXPOSURE = 20  # tenths, of 100


@pytest.fixture(scope="module")
def service() -> configparser.SectionProxy:
    return unit()


@pytest.fixture(scope="module")
def analyze() -> str:
    return shutil.which("systemd-analyze") or lacking("systemd-analyze is not installed")


def test_systemd_understands_every_option(analyze: str, service: configparser.SectionProxy, tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    program = service["ExecStart"].split()[0]
    unit.write_text(UNIT.read_text().replace(program, "/bin/true"))
    done = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("ProtectHome=", "ProtectHouse="))
    done = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert "ProtectHouse" in done.stderr, "this version of systemd reports unknown options"
    command = [analyze, "security", "--offline=yes", f"--threshold={_EXPOSURE}", "--no-pager", str(UNIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_its_command_and_folders_are_those_of_the_settings_beside_it(
    service: configparser.SectionProxy, tmp_path: Path
) -> None:
    program, *words = service["ExecStart"].split()
    options = command_parser(words[0]).parse_args(words)
    assert Path(program).name == "privacy-gateway"
    assert options.config == Path("/etc") / service["ConfigurationDirectory"] / SETTINGS.name
    settings = load_settings(SETTINGS)
    state = Path("/var/lib") / service["StateDirectory"]
    assert {settings.data_dir.parent, settings.certs_dir.parent} == {state}
    assert int(service["TimeoutStopSec"]) >= settings.shutdown_seconds + 15
    # The lines in comments are settings, too.
    (tmp_path / "all.toml").write_text(re.sub(r"^# (?=\w+ = )", "", SETTINGS.read_text(), flags=re.MULTILINE))
    load_settings(tmp_path / "all.toml").check_upstreams()
    assert service["Type"] == "notify"


def test_the_service_manager_is_told_of_start_reload_and_stop(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(30)
        with gateway(tmp_path, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")}) as running:
            assert manager.recv(100) == b"READY=1"
            running.process.send_signal(signal.SIGHUP)
            told = [manager.recv(100), manager.recv(100)]
            assert told[0].startswith(b"RELOADING=1\nMONOTONIC_USEC=")
            assert told[1] == b"READY=1"
            running.process.terminate()
            assert manager.recv(100) == b"STOPPING=1"
            assert running.process.wait(60) == 0


def permitted(analyze: str, names: str) -> set[str]:
    """The system calls of groups such as `@system-service`, and of the groups in them."""
    found: set[str] = set()
    for name in names.split():
        listed = subprocess.run([analyze, "syscall-filter", name], capture_output=True, text=True, check=True).stdout
        members = re.findall(r"^    ([@\w-]+)$", listed, re.MULTILINE)
        found |= {each for each in members if not each.startswith("@")}
        found |= permitted(analyze, " ".join(each for each in members if each.startswith("@")))
    return found


@pytest.mark.slow
def test_it_makes_no_system_call_that_the_unit_forbids(
    analyze: str, service: configparser.SectionProxy, tmp_path: Path
) -> None:
    """From start to end, with a request through models and store: names of calls, kinds of sockets, memory."""
    if not can_trace():
        lacking("strace cannot trace here")
    traces = tmp_path / "traces"
    with gateway(tmp_path, command=[*tracing(traces, "-e", "trace=all"), *COMMAND]) as running:
        with running.client() as client:
            text = "Karla Muster called from Hamburg. " * 400
            assert client.post("/v1/protect", json={"text": text}, timeout=120).status_code == 200
        running.process.send_signal(signal.SIGHUP)
        running.process.terminate()
        assert running.process.wait(120) == 0
    lines = [line for line in Calls.read(traces).lines if re.match(r"[a-z]\w*\(", line)]
    allowed = permitted(analyze, service["SystemCallFilter"]) - permitted(analyze, service["Forbidden"].lstrip("~"))
    refused = {line.partition("(")[0] for line in lines} - allowed
    # SQLite gives its files to their folder's owner, but only as root.
    assert refused <= ({"fchown"} if os.geteuid() == 0 else set())
    families = {found[1] for line in lines if (found := re.match(r"socket(?:pair)?\((AF_\w+)", line))}
    assert families <= set(service["RestrictAddressFamilies"].split())
    writable_code = re.compile(r"mmap\(.*PROT_WRITE\|PROT_EXEC|(?:pkey_)?mprotect\(.*PROT_EXEC")
    assert [line for line in lines if writable_code.match(line)] == []
