"""What schemathesis cannot know of the interface (tests/e2e/test_openapi.py names this module to it)."""

import gc
from typing import Any

import schemathesis

# Hypothesis makes millions of objects that need no collector, and is slowed down by a third if it looks often.
gc.freeze()
gc.set_threshold(200_000, 50, 1000)


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Whether a case is to be tried. What is left out here, the tests of bad input have."""
    body = case.body
    if not isinstance(body, dict):
        return True
    if case.operation.path.endswith("/chat/completions") and (
        # Of the right type, and refused all the same.
        body.get("stream") is True
        # Where both are given, the older one is not looked at.
        or body.keys() >= {"max_tokens", "max_completion_tokens"}
        # 1.0 is an integer to JSON Schema, and none to those who read these.
        or any(isinstance(body.get(name), float) for name in ("n", "seed", "max_tokens", "max_completion_tokens"))
    ):
        return False
    return not _beyond_64_bits(body)


def _beyond_64_bits(value: Any) -> bool:
    """Whole numbers that JSON's readers do not agree on are refused wherever they stand; a schema of any JSON value
    cannot say so."""
    if isinstance(value, dict):
        return any(map(_beyond_64_bits, value.values()))
    if isinstance(value, list):
        return any(map(_beyond_64_bits, value))
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 64
