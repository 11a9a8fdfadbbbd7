"""`run_proxy.py evaluate FILE…`: measures detection on labelled text. Prints tables or JSON, or writes an HTML page.

The text never leaves the machine and is stored nowhere except in the page that `--html` writes.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from errno import EISDIR, ENOENT
from pathlib import Path
from secrets import token_bytes

from gateway.cli.console import CommandLine, Misused, integer_between, print_json
from gateway.cli.engines import all_engines
from gateway.cli.evaluate_output import as_json, show
from gateway.cli.policy_lookup import load_policy, open_registry
from gateway.cli.progress import progress
from gateway.config.durable_files import writing
from gateway.config.settings import Settings
from gateway.errors import Unprocessable
from gateway.evaluation.case_scoring import score_cases
from gateway.evaluation.document_scoring import score_documents
from gateway.evaluation.labels import LabelMap
from gateway.evaluation.loader import Labelled, read_lines
from gateway.evaluation.predictor import Predictor
from gateway.evaluation.report import Evaluated, html_report
from gateway.models import PrivacyMode
from gateway.protection.protector import Protector

_LABEL_MAP = "label_map.json"


def add_commands(line: CommandLine) -> None:
    """Registers `evaluate`."""
    parser = line.commands.add_parser("evaluate", help="measure detection on labelled text")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="labelled text, JSONL (docs/evaluation.md)")
    parser.add_argument("--policy", metavar="ID", help="an id, id@version, hash or file (default: default_policy)")
    parser.add_argument("--mode", choices=[mode.value for mode in PrivacyMode], default=PrivacyMode.STANDARD.value)
    parser.add_argument("--detection", choices=["patterns", "full"], help="default: the setting of that name")
    parser.add_argument(
        "--labels", type=Path, metavar="MAP", help=f"label map (default: {_LABEL_MAP} in the folder of the first FILE)"
    )
    parser.add_argument(
        "--types", type=_names, default=(), metavar="A,B", help="only these common types of the label map"
    )
    parser.add_argument(
        "--limit", type=integer_between(1, 2**53), metavar="N", help="only the first N lines of each file"
    )
    parser.add_argument(
        "--min-score",
        type=_score,
        metavar="S",
        help="count entities with at least this score (default: the policy's threshold)",
    )
    parser.add_argument("--html", type=Path, metavar="REPORT", help="write an HTML page of misses and false alarms")
    line.finish(parser, _evaluate)


def _evaluate(settings: Settings, options: argparse.Namespace) -> int:
    if options.html is not None:
        _check_page(options.html)
    labels = _label_map(options)
    files = {file: _read(file, options.limit) for file in options.files}
    with open_registry(settings) as registry:
        policy = load_policy(options.policy or settings.default_policy, registry)
    engines = all_engines(settings)
    predictor = Predictor(
        Protector(engines, hash_key=token_bytes(32)), policy, PrivacyMode(options.mode), options.min_score
    )
    total = sum(len(one.documents) + len(one.cases) for one in files.values())
    with closing(engines), progress("evaluating", total) as advance:
        _check_types(options.types, files, predictor, labels)
        done = [
            evaluate_file(file.name, labelled, predictor, labels, types=options.types, advance=lambda: advance(1))
            for file, labelled in files.items()
        ]
    how = {"policy": asdict(policy.ref), "mode": options.mode, "detector": engines.version}
    if options.html is not None:
        subtitle = f"policy {policy.id} (version {policy.version}), {options.mode} mode, detector {engines.version}"
        page = html_report("Where detection and the labels disagree", subtitle, done)
        with writing(options.html) as file:
            file.write(page.encode())
    if options.json:
        print_json({**how, "files": [as_json(one) for one in done]})
    else:
        show(done)
    return 0


def evaluate_file(
    name: str,
    labelled: Labelled,
    predictor: Predictor,
    labels: LabelMap,
    *,
    types: Iterable[str] = (),
    advance: Callable[[], None] = lambda: None,
) -> Evaluated:
    """Scores one file. Its name selects the section of the label map."""
    section = labels.section(name)
    documents, apart = score_documents(
        labelled.documents, predictor, labels, section, types=frozenset(types), advance=advance
    )
    cases, wrong = score_cases(labelled.cases, predictor, labels, section, advance=advance)
    return Evaluated(name, documents, cases, [*apart, *wrong])


def _label_map(options: argparse.Namespace) -> LabelMap:
    file: Path = options.labels or options.files[0].parent / _LABEL_MAP
    if options.labels is None and not file.is_file():
        return LabelMap.parse({})
    try:
        return LabelMap.parse(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, RecursionError):
        raise Unprocessable(f"{file.name} is not JSON.") from None
    except Unprocessable as error:
        raise Unprocessable(f"{file.name}: {error.message}") from None


def _read(file: Path, limit: int | None) -> Labelled:
    try:
        with file.open(encoding="utf-8") as lines:
            return read_lines(lines, limit)
    except UnicodeDecodeError:
        raise Unprocessable(f"{file.name} is not UTF-8.") from None
    except Unprocessable as error:
        raise Unprocessable(f"{file.name}: {error.message}") from None


def _check_page(path: Path) -> None:
    """Raises OSError for a page that could not be written, before the work rather than after it."""
    if not path.resolve().parent.is_dir():
        raise OSError(ENOENT, os.strerror(ENOENT), str(path))
    if path.is_dir():
        raise OSError(EISDIR, os.strerror(EISDIR), str(path))


def _check_types(types: Sequence[str], files: Mapping[Path, Labelled], predictor: Predictor, labels: LabelMap) -> None:
    """Raises Misused for a type that no label of the files and nothing detected has: all figures would be empty."""
    if not types:
        return
    known: set[str] = set()
    for file, labelled in files.items():
        section = labels.section(file.name)
        known |= {labels.meaning(section, span.label).common for one in labelled.documents for span in one.spans}
        detected = (*predictor.protector.types, *predictor.policy.own_types)
        known |= {labels.common(section, name, predictor.group(name)) for name in detected}
    for number, name in enumerate(types, 1):
        if name not in known:
            message = f"--types: no label of these files and nothing that is detected has type {number} of the list"
            raise Misused(message, "validation_error", "types")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = -1
    if not 0 <= score <= 1:
        raise argparse.ArgumentTypeError("must be a number from 0 to 1")
    return score
