"""Measures with wrk as the client, which costs next to nothing: a client in Python competes for the cores.

Debian and Homebrew have it as the package `wrk`.
"""

import asyncio
import json
import os
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.texts import NOUNS
from benchmarks.traffic import Target

NONCE = "NONCE"
"""Each request replaces it by an ordinary word."""

_SCRIPT = Path(__file__).with_name("post.lua")
_EVERY = 200
"""Characters of a text between two nonces."""


def check_wrk() -> None:
    """Raises SystemExit if wrk is not installed."""
    if shutil.which("wrk") is None:
        raise SystemExit("install wrk (Debian: apt install wrk; macOS: brew install wrk)")


def with_nonces(text: str) -> str:
    """Returns a text with a nonce at the beginning of about every second sentence."""
    sentences, since = [], _EVERY
    for sentence in text.split(". "):
        sentences.append(f"Regarding the {NONCE}: {sentence}" if since >= _EVERY else sentence)
        since = len(sentence) if since >= _EVERY else since + len(sentence)
    return ". ".join(sentences)


@dataclass
class Measured:
    """Measurements of a target by wrk, in slices of time."""

    slices: list[dict[str, float]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many requests there were."""
        return int(sum(each["requests"] for each in self.slices))

    def figures(self) -> dict[str, float]:
        """Requests per second, p50 and p99 in milliseconds, errors, and how many requests there were."""
        seconds = sum(each["microseconds"] for each in self.slices) / 1e6
        return {
            "rate": self.total / seconds,
            "p50": median(each["p50"] for each in self.slices),
            "p99": median(each["p99"] for each in self.slices),
            "errors": sum(each["errors"] for each in self.slices),
            "total": self.total,
        }


def write_bodies(bodies: Sequence[bytes], folder: Path) -> Path:
    """Writes bodies to a file for `measure`."""
    file = folder / f"bodies-{random.getrandbits(64):x}.jsonl"
    file.write_bytes(b"\n".join(bodies) + b"\n")
    return file


async def measure(target: Target, bodies: Path, connections: int, seconds: int, measured: Measured) -> None:
    """Keeps `connections` busy for `seconds` and adds a slice to `measured`."""
    environment = os.environ | {
        "BODIES": str(bodies),
        "TARGET": target.path,
        "HEADERS": f"content-type: application/json\nauthorization: Bearer {target.key}",
        "WORDS": " ".join(NOUNS),
        "SEED": str(random.getrandbits(30)),
    }
    command = ("wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", str(_SCRIPT))
    process = await asyncio.create_subprocess_exec(
        *command, f"http://127.0.0.1:{target.port}", env=environment, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    measured.slices.append(json.loads(output.decode().strip().splitlines()[-1]))
