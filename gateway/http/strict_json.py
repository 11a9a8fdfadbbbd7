"""Strict JSON at the wall (RFC 8259): what cannot be read in exactly one way is refused.

Refused are broken UTF-8, duplicate keys, NaN and Infinity, lone surrogates, and nesting beyond `MAX_DEPTH`:
two readers could understand each of them differently, and the upstream must see what was scanned.
"""

import json
from collections.abc import Iterator

import orjson

from gateway.errors import BadRequest, UnsupportedMedia

type Json = dict[str, Json] | list[Json] | str | int | float | bool | None

MAX_DEPTH = 100


def check_media_type(content_type: str | None) -> None:
    """Raises UnsupportedMedia for a body that is not said to be JSON (RFC 8259 section 11, RFC 6839 section 3.1)."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMedia("Send the body as `Content-Type: application/json`.", param="Content-Type")


class _Refused(ValueError):
    """The reason of a refusal, in words that repeat nothing of the body."""


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


def _depth_within(text: str, limit: int) -> bool:
    """A bound on the nesting without parsing: brackets inside strings only make it stricter to the parser below."""
    return text.count("[") + text.count("{") <= limit or _measured_depth(text) <= limit


def _measured_depth(text: str) -> int:
    depth = deepest = 0
    for char in _structure(text):
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _structure(text: str) -> Iterator[str]:
    """The brackets of a JSON text that stand outside its strings."""
    position = 0
    while position < len(text):
        quote = text.find('"', position)
        stop = len(text) if quote < 0 else quote
        for char in text[position:stop]:
            if char in "[]{}":
                yield char
        if quote < 0:
            return
        position = quote + 1
        while (end := text.find('"', position)) >= 0:
            backslashes = end - len(text[position:end].rstrip("\\")) - position
            position = end + 1
            if backslashes % 2 == 0:
                break
        if end < 0:
            return


def parse(body: bytes | str) -> Json:
    """The value of a JSON text.

    Raises BadRequest (`invalid_json`) naming the fault, never the content.
    """
    try:
        text = body if isinstance(body, str) else body.decode("utf-8")
        if not _depth_within(text, MAX_DEPTH):
            raise _Refused("the body is nested too deeply")
        value: Json = _DECODER.decode(text)
    except UnicodeDecodeError:
        raise BadRequest("The body is not valid UTF-8.", code="invalid_json") from None
    except _Refused as refused:
        raise BadRequest(f"The body is not valid JSON: {refused}.", code="invalid_json") from None
    except json.JSONDecodeError as error:
        message = f"The body is not valid JSON (line {error.lineno}, column {error.colno})."
        raise BadRequest(message, code="invalid_json") from None
    if "\\u" in text:
        dump(value)
    return value


def parse_object(body: bytes | str) -> dict[str, Json]:
    """The same, where the body must be an object."""
    value = parse(body)
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.", code="invalid_json")
    return value


def is_json(text: str) -> bool:
    """Whether a text is one JSON document: then its strings, keys and numbers are all there is to it."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def dump(value: object) -> bytes:
    """Compact UTF-8 JSON. Raises BadRequest (`invalid_json`) for lone surrogates, which UTF-8 cannot carry."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        message = "The body is not valid JSON: a string holds a lone surrogate."
        raise BadRequest(message, code="invalid_json") from None
