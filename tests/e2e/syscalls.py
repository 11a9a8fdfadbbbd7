"""System calls of a process, including those of native libraries, which Python's audit hooks do not see."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path

_CALLS = "%network,open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,symlinkat"
_CALLS += ",rename,renameat,renameat2"
# Other calls do not stop at the tracer.
_FILTER = ("--seccomp-bpf", "-e", f"trace={_CALLS}")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_OPENED = re.compile(r"= \d+<([^>]*)>")
_FOLDER = re.compile(r"\(AT_FDCWD<([^>]*)>|\(\d+<([^>]*)>")
_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
# Files and ports that the C library uses to look up a host's name.
_LOOKUP = re.compile(r'"/etc/(?:resolv\.conf|hosts|gai\.conf)"|sin6?_port=htons\((?:53|853|5353|5355)\)|/resolve/io\.')


@cache
def can_trace() -> bool:
    """Whether strace is installed and may trace here; some containers forbid it."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return False
    command = ["strace", "-f", *_FILTER, "-qq", "-o", os.devnull, "true"]
    tried = subprocess.run(command, capture_output=True, check=False)
    return tried.returncode == 0


def tracing(folder: Path, *calls: str) -> list[str]:
    """The words in front of a command that is to be traced; its process stays the caller's own child.

    `calls` are options of strace that choose the calls.
    """
    folder.mkdir()
    # A file a thread, so that no two calls are written into each other; descriptors with their paths.
    return ["strace", "-D", "-ff", *(calls or _FILTER), "-q", "-y", "-s", "4096", "-o", str(folder / "trace")]


@dataclass(frozen=True)
class Calls:
    """The calls of a command that ended, and of every process that it started."""

    lines: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path) -> "Calls":
        """Waits for the tracer, which ends after what it traces."""
        deadline = time.monotonic() + 60
        while True:
            texts = [file.read_text(errors="replace") for file in folder.iterdir()]
            if texts and all(re.search(r"^\+\+\+ (?:exited|killed)", text, re.MULTILINE) for text in texts):
                return cls(tuple(line for text in texts for line in text.splitlines()))
            if time.monotonic() > deadline:
                raise TimeoutError("strace did not end")
            time.sleep(0.05)

    def made(self) -> Iterator[Path]:
        """Paths of files and folders that were made, moved or linked."""
        for line in self.lines:
            if "O_CREAT" in line or "O_TMPFILE" in line or line.startswith("creat("):
                if opened := _OPENED.search(line):
                    yield Path(opened[1].removesuffix(" (deleted)"))
            elif re.match(r"(?:mkdir|mknod|link|symlink|rename)", line) and re.search(r"\) += 0$", line):
                folder = _FOLDER.search(line)
                base = Path((folder[1] or folder[2]) if folder else "")
                yield from (base / name for name in _STRING.findall(line))

    def reached(self) -> Iterator[str]:
        """Addresses beyond this machine that were connected or sent to, whether that succeeded or not."""
        for line in self.lines:
            if re.match(r"(?:connect|send)", line):
                for four, six in _ADDRESS.findall(line):
                    if not ip_address(four or six).is_loopback:
                        yield four or six

    def lookups(self) -> list[str]:
        """Signs of a host's name being looked up."""
        return [line for line in self.lines if _LOOKUP.search(line)]
