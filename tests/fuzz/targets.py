"""All targets, and how a case is named and repeated."""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from tests.fuzz import bodies, log, texts
from tests.fuzz.bodies import Check


class Target(NamedTuple):
    """A parser to try, and how many cases `make test` tries."""

    open: Callable[[Path], AbstractContextManager[Check]]
    cases: int


TARGETS = {
    "requests": Target(bodies.requests, 150),
    "answers": Target(bodies.answers, 300),
    "streams": Target(bodies.streams, 60),
    "codings": Target(bodies.codings, 500),
    "placeholders": Target(texts.placeholders, 300),
    "policies": Target(texts.policies, 150),
    "exports": Target(log.exports, 60),
    "proofs": Target(log.proofs, 300),
    "checkpoints": Target(log.checkpoints, 300),
}


def run_case(check: Check, name: str, seed: str, number: int, longest: int) -> int:
    """Runs a case and returns the size of its input. Raises AssertionError, which names the case."""
    try:
        return check(random.Random(f"{name} {seed} {number} {longest}"), longest)
    except Exception as error:
        raise AssertionError(f"{name}, seed {seed}, case {number} of {longest} bytes: {error!r}") from error
