"""The service as the unit runs it, with a folder in place of the system's `/`; its commands are those of the docs."""

import configparser
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.commands import output_of
from tests.e2e.readme import steps
from tests.e2e.server import ROOT, free_port

UNIT = ROOT / "packaging" / "privacy-gateway.service"
SETTINGS = ROOT / "packaging" / "svc.toml"
OPERATING = ROOT / "docs" / "operating.md"
PROGRAM = "/opt/privacy-gateway/bin/privacy-gateway"
STATE, CONFIGURATION, BACKUPS = "/var/lib/privacy-gateway", "/etc/privacy-gateway", "/var/backups"


def unit() -> configparser.SectionProxy:
    """The options of the service, with a name of its own for the list of forbidden system calls.

    A repeated option adds to the first; only the system calls are repeated.
    """
    text = UNIT.read_text().replace("SystemCallFilter=~", "Forbidden=~")
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser["Service"]


def documented(*, after: str, before: str) -> list[str]:
    """The commands of the page for operators from one to another. Words of both tell which."""
    commands = [step.command for step in steps(OPERATING)]
    (first,) = [number for number, command in enumerate(commands) if after in command]
    last = next(number for number in range(first, len(commands)) if before in commands[number])
    return commands[first : last + 1]


@dataclass
class Machine:
    """A machine with the service. `backups` is a folder that machines share."""

    program: Path
    root: Path
    backups: Path
    port: int = field(default_factory=free_port)
    proxy_port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        for folder in (self.root, self.backups, self.path(CONFIGURATION)):
            folder.mkdir(parents=True, exist_ok=True)
        self.configure()

    def path(self, path: str) -> Path:
        return Path(self.mapped(path))

    def mapped(self, text: str) -> str:
        text = text.replace(PROGRAM, str(self.program)).replace(BACKUPS, str(self.backups))
        return re.sub(rf"(?<![\w/])({STATE}|{CONFIGURATION})\b", rf"{self.root}\1", text)

    def configure(self, *lines: str) -> None:
        """Writes the packaged settings, with these lines and with ports of its own."""
        ports = (f"gateway_port = {self.port}", f"proxy_port = {self.proxy_port}")
        text = "\n".join((SETTINGS.read_text(), *ports, *lines, ""))
        self.path(f"{CONFIGURATION}/{SETTINGS.name}").write_text(self.mapped(text))

    def run(self, command: str) -> str:
        """Runs a documented command, as this account, and returns what it prints. It has to succeed."""
        bare = re.sub(r"\bsudo (-u \S+ )?|--(owner|group) \S+ ", "", command)
        return output_of(["sh", "-c", self.mapped(bare)], self.root, self.environment)

    def command(self, words: str) -> str:
        return self.run(f"{PROGRAM} {words} --config {CONFIGURATION}/{SETTINGS.name}")

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.path(STATE)), "PATH": os.defpath, "LANG": "C.UTF-8", "COLUMNS": "80"}

    @contextmanager
    def started(self) -> Iterator["Service"]:
        """Starts the service, and returns once it has said that it is ready. At the end, it is stopped."""
        options, state = unit(), self.path(STATE)
        state.mkdir(mode=int(options["StateDirectoryMode"], 8), parents=True, exist_ok=True)
        # The path of a socket is short, wherever the test has its folder.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, (self.root / "journal").open("ab") as journal:
            address = f"\0privacy-gateway-{os.getpid()}-{self.port}"
            manager.bind(address)
            manager.settimeout(120)
            process = subprocess.Popen(
                ["sh", "-c", f"umask {options['UMask']}; exec {self.mapped(options['ExecStart'])}"],
                env=self.environment | {"NOTIFY_SOCKET": address.replace("\0", "@")},
                cwd="/",
                stdout=journal,
                stderr=journal,
            )
            try:
                service = Service(self, process, manager)
                service.told("READY=1")
                yield service
                process.terminate()
                service.told("STOPPING=1")
                assert process.wait(int(options["TimeoutStopSec"])) == 0
            finally:
                process.kill()
                process.wait()


@dataclass
class Service:
    """The service while it runs, and the socket on which it tells its manager of itself."""

    machine: Machine
    process: subprocess.Popen[bytes]
    manager: socket.socket

    @property
    def journal(self) -> str:
        return (self.machine.root / "journal").read_text()

    def told(self, *expected: str) -> None:
        """Waits until the manager was told this, and nothing else before."""
        for each in expected:
            try:
                told = self.manager.recv(200).decode()
            except TimeoutError:
                told = "nothing"
            assert told.partition("\n")[0] == each, f"{told}\n{self.journal}"

    def reload(self) -> None:
        """As ExecReload does."""
        assert unit()["ExecReload"] == "/bin/kill -HUP $MAINPID"
        self.process.send_signal(signal.SIGHUP)
        self.told("RELOADING=1", "READY=1")
        assert "not reloaded" not in self.journal, self.journal

    def follow(self, words: str, expected: str) -> str:
        """Runs a command that does not end, until it prints this."""
        output = self.machine.root / "followed"
        with output.open("wb") as file:
            line = f"exec {PROGRAM} {words} --config {CONFIGURATION}/{SETTINGS.name}"
            process = subprocess.Popen(
                ["sh", "-c", self.machine.mapped(line)], env=self.machine.environment, cwd="/", stdout=file, stderr=file
            )
        try:
            deadline = time.monotonic() + 60
            while expected not in output.read_text() and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.1)
        finally:
            process.kill()
            process.wait()
        return output.read_text()
