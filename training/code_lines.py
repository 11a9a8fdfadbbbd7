"""Trains what tells lines of code from other lines: weights of short sequences of signs and kinds of words.

    python -m training.code_lines --code FOLDER --text FOLDER [--out gateway/detection/code_lines.json]

`--code` holds sources in many languages (what Pygments calls a comment or a string is no code), `--text` everything
else: prose, manuals, logs, tables, records, configuration. Text generated for the name model is added. A file is kept
for testing by its name's hash. See `gateway/detection/source_code.py`.
"""

import argparse
import base64
import gzip
import hashlib
import html
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from gateway.detection.source_code import grams
from numpy.typing import NDArray
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Literal, Text
from pygments.util import ClassNotFound

from training import generate
from training.generate import one
from training.prose import plain
from training.scripts import documents

SUFFIXES = frozenset(
    ".py .js .mjs .cjs .ts .tsx .java .go .rs .c .h .cc .cpp .hpp .cs .rb .php .sh .sql .kt .swift .scala .lua .r .R"
    " .jl .css .scss .m .mm .tcl .pl .pm .vim .gradle".split()
)
# JSON and TOML are left out: what people write there is in quotes, as in code.
DATA = frozenset(".txt .jsonl .yml .yaml .csv .log .ini .properties .xml .md .rst .html .gz".split())
_LARGEST, _PER_SUFFIX, _PER_FILE = 80_000, 120, 300
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_LEAST = 50
"""Lines that a sequence occurs in, at least."""
_STRENGTH = 1.0e-5
"""The penalty that holds the weights down, and most of them at 0."""

_WRITTEN = frozenset({".jsonl0", ".generated0", ".scripts0"})

type Labelled = list[tuple[str, int]]


def is_test(file: Path) -> bool:
    """Whether a file only measures."""
    return hashlib.sha256(file.name.encode()).digest()[0] % 8 == 0


def labelled_lines(file: Path) -> Labelled:
    """The lines of a source: 1 for those with code, 0 for those within comments and strings alone."""
    text = file.read_text("utf-8", errors="replace").replace("\r", "")
    marks = bytearray(len(text) + 1)
    lexer = get_lexer_for_filename(file.name, stripnl=False, ensurenl=False)
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        if not (kind in Comment or kind in Literal.String or kind in Text):
            marks[at : at + len(value)] = b"\1" * len(value)
    lines: Labelled = []
    at = 0
    for line in text.split("\n"):
        lines.append((line, int(any(marks[at : at + len(line)]))))
        at += len(line) + 1
    return lines


def sources(folder: Path, chance: random.Random) -> Iterator[tuple[Path, Labelled]]:
    """The files of each ending, no more than so many."""
    by_suffix: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if (
            file.suffix in SUFFIXES
            and file.is_file()
            and 500 < file.stat().st_size < _LARGEST
            and ".min." not in file.name
        ):
            by_suffix[file.suffix].append(file)
    for files in by_suffix.values():
        for file in chance.sample(files, min(_PER_SUFFIX, len(files))):
            try:
                yield file, labelled_lines(file)
            except ClassNotFound:
                continue


def texts(folder: Path, chance: random.Random) -> Iterator[tuple[Path, Labelled]]:
    """Everything else: files, labelled documents, generated ones."""
    by_suffix: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if (
            file.suffix in DATA
            and "CMake" not in file.name
            and file.is_file()
            and 100 < file.stat().st_size < 20 * _LARGEST
        ):
            by_suffix[file.suffix].append(file)
    for suffix, files in by_suffix.items():
        for file in chance.sample(files, min(2 * _PER_SUFFIX, len(files))):
            data = gzip.decompress(file.read_bytes()) if suffix == ".gz" else file.read_bytes()
            text = data.decode("utf-8", "replace")
            if suffix == ".jsonl":
                text = "\n".join(json.loads(line)["text"] for line in text.splitlines())
            elif suffix == ".html":
                text = plain(re.sub(r"<pre\b.*?</pre>", "", text, flags=re.DOTALL | re.IGNORECASE), "\n")
            elif suffix in {".md", ".rst"}:
                text = _FENCED.sub("", text)
                text = "\n".join(line for line in text.split("\n") if not line.startswith(("    ", "\t")))
            lines = html.unescape(text).split("\n")
            most = 6000 if suffix in {".jsonl", ".txt"} else _PER_FILE
            start = chance.randrange(max(1, len(lines) - most))
            yield file, [(line[:1000], 0) for line in lines[start : start + most]]
    generate.ENGLISH.pop("code", None)
    number = 0
    while number < 9000:
        text = one(chance).text
        if code_lines().isdisjoint(text.split("\n")):
            number += 1
            yield Path(f"{number}.generated"), [(dressed(line, chance), 0) for line in text.split("\n")]
    for number, document in enumerate(documents(1500, 5)):
        yield Path(f"{number}.scripts"), [(line, 0) for line in document.text.split("\n")]


@cache
def code_lines() -> frozenset[str]:
    """The lines of code among the generated texts."""
    return frozenset(generate.code_lines())


def dressed(line: str, chance: random.Random) -> str:
    """One line in twelve with a word encoded, as people hide what they write."""
    words = line.split(" ")
    if chance.random() > 1 / 12 or len(words) < 2:
        return line
    at = chance.randrange(len(words))
    data = words[at].encode()
    words[at] = chance.choice(
        (
            base64.b64encode(data).decode(),
            "".join(f"%{byte:02X}" for byte in data),
            f"=?utf-8?Q?{''.join(f'={byte:02X}' for byte in data)}?=",
            "".join(f"&#{ord(char)};" for char in words[at]),
            "".join(f"\\u{ord(char):04x}" for char in words[at]),
            data.hex(),
            " ".join(words[at]),
            f"**{words[at]}**",
            f"<b>{words[at]}</b>",
        )
    )
    return " ".join(words)


def train(rows: Sequence[tuple[Sequence[int], int, float]], size: int) -> NDArray[np.float64]:
    """Logistic regression with an L1 penalty, by proximal Adagrad; the last weight is the bias."""
    weights, squares = np.zeros(size + 1), np.full(size + 1, 1e-2)
    order = np.arange(len(rows))
    chance = np.random.default_rng(1)
    lengths = np.array([len(row[0]) + 1 for row in rows])
    flat = np.concatenate([np.array([*row[0], size]) for row in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    targets = np.array([row[1] for row in rows], float)
    weight = np.array([row[2] for row in rows])
    for epoch in range(8):
        chance.shuffle(order)
        for at in range(0, len(order), 2048):
            chosen = order[at : at + 2048]
            places = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen])
            grams_, owner = flat[places], np.repeat(np.arange(len(chosen)), lengths[chosen])
            score = np.bincount(owner, weights[grams_], len(chosen))
            error = (1 / (1 + np.exp(-score)) - targets[chosen]) * weight[chosen]
            gradient = np.bincount(grams_, error[owner], size + 1) / len(chosen)
            squares += gradient**2
            rate = 0.5 / np.sqrt(squares)
            weights -= rate * gradient
            penalty = rate * _STRENGTH
            penalty[-1] = 0
            weights = np.sign(weights) * np.maximum(np.abs(weights) - penalty, 0)
        print(f"epoch {epoch}: {np.count_nonzero(weights)} weights")
    return weights


def main() -> None:
    """Trains, writes, and prints how many lines of the test files are told apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("gateway/detection/code_lines.json"))
    options = parser.parse_args()
    chance = random.Random(7)
    groups: dict[str, list[tuple[list[str], int, bool]]] = defaultdict(list)
    for source in (sources(options.code, chance), texts(options.text, chance)):
        for file, lines in source:
            for line, label in lines:
                if found := grams(line):
                    groups[f"{file.suffix}{label}"].append((found, label, is_test(file)))
    counts: Counter[str] = Counter(gram for rows in groups.values() for found, _, _ in rows for gram in found)
    vocabulary = {gram: number for number, gram in enumerate(g for g, n in counts.items() if n >= _LEAST)}
    total = {label: sum(len(rows) for name, rows in groups.items() if name.endswith(str(label))) for label in (0, 1)}
    rows = [
        (
            [vocabulary[gram] for gram in found if gram in vocabulary],
            label,
            # Kinds of file count by the root of their size, code as much as all else, and what people write more.
            min(3.0, (len(some) / total[label]) ** -0.5 / 3)
            * (1.0 if label else total[1] / total[0])
            * (3.0 if name in _WRITTEN else 1.0),
        )
        for name, some in groups.items()
        for found, label, test in some
        if not test
    ]
    print({name: len(rows) for name, rows in groups.items()}, len(vocabulary))
    weights = train(rows, len(vocabulary))
    table = {gram: round(float(weights[n]), 2) for gram, n in vocabulary.items() if abs(weights[n]) >= 0.01}
    bias = round(float(weights[-1]), 2)
    options.out.write_text(
        json.dumps({"": bias, **dict(sorted(table.items()))}, ensure_ascii=False, indent=0) + "\n", "utf-8"
    )
    for name, some in sorted(groups.items()):
        tested = [bias + sum(table.get(gram, 0) for gram in found) for found, _, test in some if test]
        if tested:
            right = sum((score > 0) == name.endswith("1") for score in tested)
            print(f"{name:14} {right / len(tested):.4f} of {len(tested)}")


if __name__ == "__main__":
    main()
