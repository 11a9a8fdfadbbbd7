"""Parses JSON strictly (RFC 8259) and rejects input that parsers disagree on.

Rejects invalid UTF-8, duplicate keys, NaN and Infinity, lone surrogates, and nesting beyond `MAX_DEPTH`. The upstream's
parser must see the same values that detection saw.
"""

import json
from typing import Any

import orjson

from gateway.errors import BadRequest, UnsupportedMedia

type Json = dict[str, Json] | list[Json] | str | int | float | bool | None

JSON, TOML = "application/json", "application/toml"

MAX_DEPTH = 100
_NESTED = frozenset({dict, list})


def check_media_type(content_type: str | None, *others: str) -> str:
    """Returns the media type of a body that is declared as JSON (RFC 8259 section 11, RFC 6839 section 3.1).

    Raises UnsupportedMedia if it is neither JSON nor one of `others`.
    """
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind not in {JSON, *others} and not (kind.startswith("application/") and kind.endswith("+json")):
        known = " or ".join(f"`{each}`" for each in (f"Content-Type: {JSON}", *others))
        raise UnsupportedMedia(f"Send the body as {known}.", param="Content-Type")
    return kind


class _Refused(ValueError):
    """The reason for rejecting a body, without quoting it."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Refused("an object holds the same key twice")
    return result


def _constant(_: str) -> float:
    raise _Refused("NaN and Infinity are not JSON")


def _number(token: str) -> float:
    value = float(token)
    if value in {float("inf"), float("-inf")}:
        raise _Refused("a number is too large")
    return value


def _integer(token: str) -> int:
    if len(token) > 20:
        raise _Refused("a number is too large")
    value = int(token)
    if not -(1 << 63) <= value < 1 << 64:
        raise _Refused("a number is too large")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_number, parse_int=_integer
)


def _is_too_deep(value: Json) -> bool:
    """Returns whether a value is nested in more than `MAX_DEPTH` levels."""
    level: list[Any] = [value] if type(value) in _NESTED else []
    for _ in range(MAX_DEPTH):
        members = (each.values() if type(each) is dict else each for each in level)
        level = [each for inner in members for each in inner if type(each) in _NESTED]
        if not level:
            return False
    return True


def parse(body: bytes | str) -> Json:
    """Parses a JSON text.

    Raises BadRequest (`invalid_json`) with a message that names the problem and does not quote the text.
    """
    try:
        text = body if isinstance(body, str) else body.decode("utf-8")
        value: Json = _DECODER.decode(text)
        # Counting all brackets is a quick upper bound.
        if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(value):
            raise RecursionError
    except UnicodeDecodeError:
        raise BadRequest("The body is not valid UTF-8.", code="invalid_json") from None
    except RecursionError:
        raise BadRequest("The body is not valid JSON: the body is nested too deeply.", code="invalid_json") from None
    except _Refused as refused:
        raise BadRequest(f"The body is not valid JSON: {refused}.", code="invalid_json") from None
    except json.JSONDecodeError as error:
        message = f"The body is not valid JSON (line {error.lineno}, column {error.colno})."
        raise BadRequest(message, code="invalid_json") from None
    if "\\u" in text:
        dump(value)
    return value


def parse_object(body: bytes | str) -> dict[str, Json]:
    """Parses a JSON text that must be an object. Raises BadRequest (`invalid_json`)."""
    value = parse(body)
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.", code="invalid_json")
    return value


def is_json(text: str) -> bool:
    """Whether the whole text is one JSON document."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def dump(value: object) -> bytes:
    """Serializes to compact UTF-8 JSON. Raises BadRequest (`invalid_json`) for lone surrogates."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        message = "The body is not valid JSON: a string holds a lone surrogate."
        raise BadRequest(message, code="invalid_json") from None
