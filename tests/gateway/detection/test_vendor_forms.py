"""Keys as a vendor's generator makes them are never taken for examples: random keys in the form of each example."""

import random
import re
from collections.abc import Iterator

import pytest

from gateway.detection.discovery import discover
from gateway.detection.recognizer import PatternRecognizer, compile_pattern
from gateway.detection.recognizers._samples import BASE62, DIGITS, HEX, LOWER, UPPER

pytestmark = pytest.mark.slow

_PART = re.compile(r"[A-Za-z0-9]+")
_DRAWN, _REFUSED = 1000, 3
KEYS = [
    one
    for one in discover()
    if isinstance(one, PatternRecognizer) and one.id.startswith("api_key.") and one.validator is not None
]


def drawn(recognizer: PatternRecognizer, dice: random.Random) -> Iterator[str]:
    """Yields keys like the first example: after its prefix, each part is drawn from the characters of that part."""
    example = recognizer.examples[0].value
    prefix = compile_pattern(recognizer.prefilters[0]).match(example.encode())
    at = min(prefix.end(), len(example) - 8) if prefix is not None else 0
    while True:
        yield example[:at] + _PART.sub(
            lambda part: "".join(dice.choices(_signs(part[0]), k=len(part[0]))), example[at:]
        )


def _signs(part: str) -> str:
    return next(signs for signs in (DIGITS, HEX, LOWER, UPPER, BASE62) if set(part) <= set(signs))


@pytest.mark.parametrize("recognizer", KEYS, ids=lambda one: one.id)
def test_random_keys_are_not_taken_for_examples(recognizer: PatternRecognizer) -> None:
    check = recognizer.validator
    assert check is not None
    keys = drawn(recognizer, random.Random(recognizer.id))
    refused = sum(check(next(keys)) is False for _ in range(_DRAWN))
    assert refused <= _REFUSED
