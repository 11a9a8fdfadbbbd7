"""Lists what would be hidden in texts that hold nothing private, by type and MB, each finding to be looked through.

    python -m benchmarks.clean_text [FOLDER …] [--suffixes .py,.txt,.md] [--policy default] [--mode standard]
                                    [--detection full] [--show 20] [--types A,B] [--right FILE] [--json FILE]

Without a folder: the standard library of this Python, without its tests. Findings in the code of Python files, which
excludes comments and strings, are counted on their own. A finding here is not false for that:
sources name their authors, and tests hold keys. That is for the reader to say, who gets file, line and surroundings. A
value that appears many times is listed once, with how often and in how many files. What has been looked through
and found right can be left out: `--right` names a JSON list of digests, which the output of `--json` holds. The one for
the standard library is tests/vectors/detection/clean_text_right.json; as digests, it names no one.
"""

import argparse
import io
import json
import sys
import sysconfig
import tokenize
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.engines import all_engines
from gateway.config.settings import BUILTIN_POLICIES, Settings
from gateway.detection.source_code import Stretch
from gateway.evaluation.predictor import Predictor
from gateway.models import PrivacyMode
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector

MB = 1_000_000
_NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.STRING, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    | {
        getattr(tokenize, name)
        for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
        if hasattr(tokenize, name)
    }
)
_AROUND = 40
_NEVER = frozenset({"__pycache__", "site-packages", "dist-packages", "node_modules", "test", "tests", "idle_test"})
_LARGEST = 20 * MB


@dataclass
class Seen:
    """One value that would be hidden, where it stands first. `before` and `after` are its line's rest."""

    type: str
    group: str
    value: str
    file: str
    line: int
    before: str
    after: str
    score: float
    recognizer: str
    times: int = 0
    files: int = 0
    in_code: int = 0

    @property
    def digest(self) -> str:
        """Names the type and value without saying them."""
        return blake2b(f"{self.type}\0{self.value}".encode("utf-8", "replace"), digest_size=8).hexdigest()


type SeenValues = dict[tuple[str, str], Seen]


def files_of(folder: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Every text below a folder, in order; caches, packages and tests left out."""
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).parts[:-1]
        if file.suffix in suffixes and _NEVER.isdisjoint(inside) and file.is_file() and not file.is_symlink():
            yield file


def code_of(text: str) -> list[Stretch]:
    """Returns the names, keywords, numbers and operators of a Python source in order; none if it is no such source."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string]
    except (SyntaxError, tokenize.TokenError):
        return []
    return [
        (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        for token in tokens
        if token.type not in _NO_CODE
    ]


def is_within(stretches: Sequence[Stretch], start: int, end: int) -> bool:
    """Returns whether a span overlaps one of the stretches, which are in order."""
    at = bisect_right(stretches, (end - 1, len(stretches) and stretches[-1][1])) - 1
    return at >= 0 and stretches[at][0] < end and start < stretches[at][1]


def look(text: str, name: str, seeker: Predictor, seen: SeenValues) -> None:
    """Adds what would be hidden in a text."""
    here = set()
    code = code_of(text) if name.endswith(".py") else []
    for one in seeker.predict(text):
        if not one.hidden:
            continue
        key = (one.type, text[one.start : one.end])
        if key not in seen:
            line = text.count("\n", 0, one.start) + 1
            before = text[max(0, one.start - _AROUND) : one.start].rpartition("\n")[2]
            after = text[one.end : one.end + _AROUND].partition("\n")[0]
            group = seeker.group(one.type)
            seen[key] = Seen(one.type, group, key[1], name, line, before, after, one.score, one.recognizer)
        seen[key].times += 1
        seen[key].in_code += is_within(code, one.start, one.end)
        seen[key].files += key not in here
        here.add(key)


def per_mb(seen: Iterable[Seen], size: int) -> tuple[float, float]:
    """Secret values, and all others, that a text of `size` bytes holds in a MB."""
    kinds = [one.group == "secret" for one in seen]
    return sum(kinds) * MB / size, (len(kinds) - sum(kinds)) * MB / size


def show(seen: Sequence[Seen], size: int, most: int, console: Console) -> None:
    """Counts by type, then up to `most` findings of each."""
    by_type: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        by_type[one.type].append(one)
    right = [Column(name, justify="right") for name in ("values", "per MB", "findings")]
    table = Table("Type", "group", *right, box=box.SIMPLE)
    for name, found in sorted(by_type.items(), key=lambda item: -len(item[1])):
        times = sum(one.times for one in found)
        table.add_row(name, found[0].group, str(len(found)), f"{len(found) * MB / size:.2f}", str(times))
    console.print(table)
    secrets, others = per_mb(seen, size)
    in_code = sum(one.in_code for one in seen) * MB / size
    values = f"{secrets:.2f} secret and {others:.2f} other values"
    console.print(f"{size / MB:.1f} MB; per MB {values}, and {in_code:.1f} findings in code", highlight=False)
    for name, found in sorted(by_type.items()):
        console.rule(f"{name}: {len(found)}")
        for one in found[:most]:
            line = Text(f"{one.file}:{one.line} ", style="dim")
            line.append(one.before, style="not dim").append(one.value.replace("\n", "⏎"), style="not dim bold reverse")
            line.append(one.after, style="not dim").append(
                f"  {one.score:.2f} {one.recognizer} ×{one.times} in {one.files}"
            )
            console.print(line, soft_wrap=True)
        if len(found) > most:
            console.print(f"… and {len(found) - most} more (--show)")


def search(folders: Sequence[Path], suffixes: Sequence[str], seeker: Predictor) -> tuple[list[Seen], int]:
    """Returns what would be hidden in the texts of these folders, and their size in bytes."""
    seen: SeenValues = {}
    size = 0
    err = Console(stderr=True)
    for folder in folders:
        for file in track(list(files_of(folder, suffixes)), "reading", console=err, transient=True):
            if file.stat().st_size > _LARGEST:
                print(f"{file.relative_to(folder)} is too large and left out", file=sys.stderr)
                continue
            text = file.read_text(encoding="utf-8", errors="replace")
            size += len(text.encode())
            look(text, str(file.relative_to(folder)), seeker, seen)
    return list(seen.values()), size


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--suffixes", type=lambda text: text.split(","), default=[".py", ".txt", ".md", ".rst"])
    parser.add_argument("--policy", default="default")
    parser.add_argument("--mode", choices=[mode.value for mode in PrivacyMode], default=PrivacyMode.STANDARD.value)
    parser.add_argument("--detection", choices=["full", "patterns"], default="full")
    parser.add_argument("--types", type=lambda text: set(text.split(",")), default=set(), help="only these")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="list so many of each type")
    parser.add_argument("--right", type=Path, metavar="FILE", help="digests of values to leave out, as JSON")
    parser.add_argument("--json", type=Path, help="write all of them there")
    options = parser.parse_args(arguments)
    policy = PolicyRegistry(BUILTIN_POLICIES).get(options.policy)
    engines = all_engines(Settings(detection=options.detection))
    seeker = Predictor(Protector(engines, hash_key=bytes(32)), policy, PrivacyMode(options.mode))
    seen, size = search(options.folders or [Path(sysconfig.get_path("stdlib"))], options.suffixes, seeker)
    if not size:
        parser.error("there is no text in these folders")
    known = set(json.loads(options.right.read_text(encoding="utf-8"))) if options.right else set()
    chosen = [one for one in seen if one.digest not in known and (not options.types or one.type in options.types)]
    show(chosen, size, options.show, Console())
    if options.json:
        document = {"bytes": size, "values": [{**asdict(one), "digest": one.digest} for one in chosen]}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
