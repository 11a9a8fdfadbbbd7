"""README.md as a list of steps: what to copy out of it, and what it says comes back.

In what it says, `…` stands for anything within a line or a JSON string; a line that is only `…` for any lines; a member
`"…": "…"` for any further members.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANY = "…"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One command line, whole, and the block that says what it prints (None: README does not say)."""

    command: str
    expected: Block | None


def blocks(page: Path) -> list[Block]:
    """Every fenced block, in order."""
    return [Block(*found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def steps(page: Path) -> list[Step]:
    """Every command of every `sh` block. What follows a block belongs to its last command."""
    every = blocks(page)
    found = []
    for number, block in enumerate(every):
        if block.language != "sh":
            continue
        lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
        commands = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
        after = every[number + 1] if number + 1 < len(every) and every[number + 1].language in {"", "json"} else None
        found += [Step(command, None) for command in commands[:-1]] + [Step(commands[-1], after)]
    return found


def differs(expected: Block, printed: str) -> str | None:
    """Returns the text of the README that the command did not print, or None if it printed all of it."""
    if expected.language == "json":
        return _json_differs(json.loads(expected.text), json.loads(printed), "$")
    rest = [_plain(line) for line in printed.splitlines() if line.strip()]
    skipping = False
    for line in expected.text.splitlines():
        if line.strip() == ANY:
            skipping = True
            continue
        here = next((n for n, each in enumerate(rest) if _matches(_plain(line), each)), None)
        if here is None or (here and not skipping):
            return f"the line {line!r}"
        rest, skipping = rest[here + 1 :], False
    return None if skipping or not rest else f"that nothing follows, such as {rest[0]!r}"


def _json_differs(expected: Any, given: Any, place: str) -> str | None:
    if isinstance(expected, str) and isinstance(given, str):
        return None if _matches(expected, given) else place
    if isinstance(expected, Mapping) and isinstance(given, Mapping):
        if ANY not in expected and expected.keys() != given.keys():
            return f"the members of {place}"
        found = [
            _json_differs(value, given[name], f"{place}.{name}") if name in given else f"{place}.{name}"
            for name, value in expected.items()
            if name != ANY
        ]
        return next((each for each in found if each), None)
    if isinstance(expected, Sequence) and isinstance(given, Sequence) and len(expected) == len(given):
        pairs = enumerate(zip(expected, given, strict=True))
        return next((each for n, (a, b) in pairs if (each := _json_differs(a, b, f"{place}[{n}]"))), None)
    return None if expected == given else place


def _matches(expected: str, given: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, expected.split(ANY))), given, re.DOTALL) is not None


def _plain(line: str) -> str:
    return " ".join(line.split())
