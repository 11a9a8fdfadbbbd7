"""Measures what a client can learn of others from response times, which should be nothing.

    python -m benchmarks.isolation [--rounds 400] [--detection full] [--json FILE]

sessions  a session with an unknown id, with a wrong token, and of another owner: three refusals that should take alike
texts     a text that is new, that another client sent just before, and that the client itself sent just before. The
          first two should take alike; the third is remembered, and shows that a difference would be seen

The calls of a round come in random order. `ratio` is that of the medians. `auc` is the probability that a call of the
one kind takes longer than one of the other (the area under the ROC curve): 0.5 tells nothing, 0 and 1 tell all.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.texts import prose
from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import NotFound
from gateway.exchange.operations import Question
from gateway.models import Caller, Scope

ANNA, BERT = Caller("key_anna", Scope.CLIENT), Caller("key_bert", Scope.CLIENT)
_WARM_UP = 20
# Texts between one that is sent and the same sent again: a processor runs faster what it ran a moment ago.
_BETWEEN = 8

type Calls = dict[str, Callable[[], Awaitable[object]]]


def auc(some: list[float], others: list[float]) -> float:
    """Returns the probability that one of `some` is larger than one of `others`; equals count half."""
    ranked = sorted(others)
    below = sum(bisect_left(ranked, each) + bisect_right(ranked, each) for each in some)
    return below / (2 * len(some) * len(others))


async def timed(rounds: int, calls_of_round: Callable[[], Awaitable[Calls]]) -> dict[str, list[float]]:
    """Returns the seconds of each call in every round after the first few."""
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + _WARM_UP):
        calls = list((await calls_of_round()).items())
        seconds = seconds or {name: [] for name, _ in calls}
        random.shuffle(calls)
        for name, call in calls:
            began = time.perf_counter()
            await call()
            if number >= _WARM_UP:
                seconds[name].append(time.perf_counter() - began)
    return seconds


async def refusals(container: Container, rounds: int) -> dict[str, list[float]]:
    """Times the three refusals of a session with values in it."""
    done = await container.operations.protect(Question(text()), ANNA)
    right = (done.session.session_id, done.session.session_token)

    async def refused(credentials: tuple[str, str], caller: Caller) -> None:
        try:
            await container.operations.reconstruct("Hello", credentials, caller)
        except NotFound:
            return
        raise AssertionError("a session of another was opened")

    async def calls() -> Calls:
        unknown = ("vs_" + random.randbytes(16).hex(), right[1])
        wrong = (right[0], "vst_" + random.randbytes(32).hex()[:43])
        return {
            "unknown id": lambda: refused(unknown, ANNA),
            "wrong token": lambda: refused(wrong, ANNA),
            "other owner": lambda: refused(right, BERT),
        }

    return await timed(rounds, calls)


async def remembered(container: Container, rounds: int) -> dict[str, list[float]]:
    """Times texts by who sent them before."""

    def again(sent: str) -> Callable[[], Awaitable[object]]:
        # As a request brings it: Python remembers the hash of a string, and its bytes.
        received = Question(sent.encode().decode())
        return lambda: container.operations.analyze(received, ANNA)

    async def calls() -> Calls:
        new, of_other, own = text(), text(), text()
        await container.operations.analyze(Question(of_other), BERT)
        await container.operations.analyze(Question(own), ANNA)
        for _ in range(_BETWEEN):
            await container.operations.analyze(Question(text()), BERT)
        return {"new": again(new), "sent by another": again(of_other), "sent by itself": again(own)}

    return await timed(rounds, calls)


def text() -> str:
    """A text of about 1 KB that was never sent."""
    return prose(1000, random.Random(random.randbytes(16)))


def compared(seconds: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Returns each kind beside the first: the medians, their ratio, and the AUC."""
    first, *others = seconds
    base = seconds[first]
    return [
        {
            "kind": name,
            "beside": first,
            "ms": median(seconds[name]) * 1000,
            "beside_ms": median(base) * 1000,
            "ratio": median(seconds[name]) / median(base),
            "auc": auc(seconds[name], base),
        }
        for name in others
    ]


async def measure(rounds: int, detection: str) -> dict[str, Any]:
    """Returns both comparisons, each in one run."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(None, data_dir=Path(folder), detection=detection)
        async with await Container.start(settings) as container:
            sessions = compared(await refusals(container, rounds))
            texts = compared(await remembered(container, rounds))
    return {"rounds": rounds, "detection": detection, "sessions": sessions, "texts": texts}


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--detection", choices=("patterns", "full"), default="full")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    figures = asyncio.run(measure(options.rounds, options.detection))
    table = Table("what", "beside", "ms", "ms", "ratio", "auc")
    for row in (*figures["sessions"], *figures["texts"]):
        numbers = (f"{row['ms']:.3f}", f"{row['beside_ms']:.3f}", f"{row['ratio']:.3f}", f"{row['auc']:.3f}")
        table.add_row(row["kind"], row["beside"], *numbers)
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
