"""Facts about the interface that schemathesis cannot know (tests/e2e/test_openapi.py has it load this module)."""

import gc
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any

import schemathesis
from schemathesis import GenerationMode

# Hypothesis makes millions of objects that need no collector, and is slowed down by a third if it looks often.
gc.freeze()
gc.set_threshold(200_000, 50, 1000)

_receipts: list[str] = []
_sessions: list[dict[str, Any]] = []
_sound_cases: defaultdict[str, Iterator[int]] = defaultdict(count)


@schemathesis.serializer("application/toml")
def as_toml(context: Any, value: Any) -> Any:
    """Sends a generated text as it is."""
    return str(value).encode("utf-8", "replace")


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Keeps what was protected last, until its session is revoked."""
    path, done = case.operation.path, response.status_code == 200
    if path == "/v1/protect" and done:
        _sessions[:] = [response.json()]
        _receipts[:] = [_sessions[0]["request_id"]]
    if path == "/v1/sessions/revoke" and done:
        _sessions.clear()


@schemathesis.hook
def before_call(context: Any, case: Any, **kwargs: Any) -> None:
    """Names a receipt or an open session in every second case that is sound: a made-up one is never there."""
    sound = case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE
    if not sound or next(_sound_cases[case.operation.path]) % 2:
        return
    if _receipts and "request_id" in (case.path_parameters or {}):
        case.path_parameters = case.path_parameters | {"request_id": _receipts[0]}
    if _sessions and isinstance(case.body, dict) and "session" in case.body:
        protected, names = _sessions[0], ("session_id", "session_token")
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
        # The right type, but refused all the same.
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
