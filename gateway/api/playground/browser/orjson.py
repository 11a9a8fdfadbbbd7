"""Reads and writes JSON as the gateway has orjson do, by Python's own json."""

import json
from typing import Any

JSONDecodeError = json.JSONDecodeError


class JSONEncodeError(TypeError):
    """A value that is no JSON."""


def loads(data: bytes | str) -> Any:
    return json.loads(data)


def dumps(value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise JSONEncodeError(type(error).__name__) from None
