"""The command: see `tests/fuzz/__init__.py`."""

import argparse
import logging
import sys
import tempfile
import time
import traceback
from pathlib import Path

import tests.fuzz
from tests.fuzz.targets import TARGETS, run_case

_SIZES = (400, 4000, 40_000)
_SLOW_MS, _SLOW_MS_PER_KB = 300.0, 20.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=tests.fuzz.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--only", help="names of targets, separated by commas: " + ", ".join(TARGETS))
    parser.add_argument("--seed", default="1")
    parser.add_argument("--case", type=int, help="this case alone, of each size")
    options = parser.parse_args()
    logging.disable()
    failed = 0
    for name in options.only.split(",") if options.only else TARGETS:
        failed += _run(name, options)
    return 1 if failed else 0


def _run(name: str, options: argparse.Namespace) -> int:
    failures: dict[str, str] = {}
    slowest, end = (0.0, 0, 0, 0), time.monotonic() + options.seconds
    number = options.case or 0
    with tempfile.TemporaryDirectory() as folder, TARGETS[name].open(Path(folder)) as check:
        while time.monotonic() < end and (options.case is None or number == options.case):
            for longest in _SIZES:
                began = time.process_time()
                try:
                    size = run_case(check, name, options.seed, number, longest)
                except AssertionError as error:
                    place = traceback.extract_tb((error.__cause__ or error).__traceback__)[-1]
                    if (where := f"{place.filename}:{place.lineno}") not in failures:
                        failures[where] = str(error)
                        print(f"FAILED {error}", flush=True)
                        traceback.print_exception(error.__cause__, limit=-6)
                    continue
                took = (time.process_time() - began) * 1000
                slowest = max(slowest, (took / (_SLOW_MS + size / 1024 * _SLOW_MS_PER_KB), number, longest, size))
            number += 1
    share, case, longest, size = slowest
    print(f"{name}: {number} cases of each size, {len(failures)} kinds of failures")
    print(
        f"  the slowest: case {case} of {longest} bytes ({size} in the end), {share:.0%} of the time allowed",
        flush=True,
    )
    return len(failures) + (share > 1)


if __name__ == "__main__":
    sys.exit(main())
