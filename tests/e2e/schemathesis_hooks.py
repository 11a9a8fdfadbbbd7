"""What schemathesis cannot know of the interface (tests/e2e/test_openapi.py names this module to it)."""

import gc
from itertools import count
from typing import Any

import schemathesis
from schemathesis import GenerationMode

# Hypothesis makes millions of objects that need no collector, and is slowed down by a third if it looks often.
gc.freeze()
gc.set_threshold(200_000, 50, 1000)

_sessions: list[dict[str, Any]] = []
_sound_cases = count()


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Keeps what was protected last."""
    if case.operation.path == "/v1/protect" and response.status_code == 200:
        _sessions[:] = [response.json()]


@schemathesis.hook
def before_call(context: Any, case: Any, **kwargs: Any) -> None:
    """Names an open session in every second case that is sound: a made-up one is never there."""
    if not (isinstance(case.body, dict) and "session" in case.body and _sessions):
        return
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE or next(_sound_cases) % 2:
        return
    protected = _sessions[0]
    names = ("session_id", "session_token")
    case.body = case.body | {"session": {name: protected["session"][name] for name in names}}
    if case.operation.path == "/v1/reconstruct":
        case.body["text"] = protected["protected_text"]


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
