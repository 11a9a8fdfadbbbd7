"""Changes valid inputs at random: bytes, JSON documents and lists."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from gateway.errors import GatewayError

type Json = Any

CARD = "4111 1111 1111 1111"
ADDRESS = "canary.person@acme.test"
PRIVATE = f"Charge the card {CARD} of {ADDRESS}"
"""Text whose values never cross, and that no message repeats."""
_CANARIES = (CARD, CARD.replace(" ", ""), ADDRESS.partition("@")[0])

_TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\udc00\\ud800", b"\x00", b"\xff", b"\xc3"),
    *(b",", b":", b": ", b"\n", b"\r", b"\r\n", b"\n\n", b"data: ", b"event: ", b"data: [DONE]\n\n", b"null", b"true"),
    *(b"-0", b"1e999", b"1e-999", b"NaN", b"9" * 30, b"-1", b"0.1", b"<", b">", b"`", b"](", b"&#91;", b"%5B", b"="),
    *("\u2028".encode(), "\ufeff".encode(), "\u202e".encode(), "𝟜𝟙𝟙𝟙".encode(), "é".encode(), PRIVATE.encode()),
    *(b"[PERSON_AAAAA]", b"[EMAIL_ADDRESS_", b"PERSON_7KQ2M", b"[[", b"{{", b"$ref", b"svc", b"svc_policy", b"stream"),
)  # fmt: skip
_VALUES: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 1, 2**53, 2**64 - 1, -(2**63), 0.1, -0.0, 1e300, "", " ", "\x00", "\ud7ff", "a" * 99),
    *([], {}, [[]], [{}], [None], {"": ""}, [""], {"type": "text", "text": PRIVATE}, {"role": "user"}, {"a": {"b": 1}}),
    *(PRIVATE, PRIVATE, [PRIVATE], {PRIVATE: PRIVATE}, "4111111111111111", 4111111111111111, "text", "function"),
)  # fmt: skip


def mutated_bytes(rng: random.Random, data: bytes, *, longest: int) -> bytes:
    """Returns a copy with one to four changes, of at most about `longest` bytes."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        end = min(len(data), at + int(len(data) ** rng.random()))
        match rng.randrange(7):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:at] + rng.choice(_TOKENS) + data[at:]
            case 2:
                data = data[:at] + rng.choice(_TOKENS) + data[end:]
            case 3:
                data = data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at:]
            case 4:
                data = data[:end]
            case 5:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case _:
                piece = data[at:end] or rng.choice(_TOKENS)
                times = int(max(1, longest / len(piece)) ** rng.random())
                data = data[:at] + piece * times + data[end:]
    return data[: 2 * longest]


def mutated_text(rng: random.Random, text: str, *, longest: int) -> str:
    """Returns a copy of a text with one to four changes."""
    return mutated_bytes(rng, text.encode(), longest=longest).decode("utf-8", "replace")


def mutated_json(rng: random.Random, value: Json) -> Json:
    """Returns a copy of a JSON document with one to three changes."""
    holder = [copy.deepcopy(value)]
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice([*_places(holder)])
        match rng.randrange(8):
            case 0 if container is not holder:
                del container[key]
            case 1:
                container[key] = [container[key]]
            case 2:
                container[key] = {rng.choice(("type", "text", "content", "id", "name", PRIVATE)): container[key]}
            case 3 if isinstance(container, dict):
                container[rng.choice((PRIVATE, f"{key} ", str(key).upper(), "svc_policy"))] = container.pop(key)
            case 4:
                _, other = rng.choice([*_places(holder)]), rng.choice([*_places(holder)])
                container[key] = copy.deepcopy(other[0][other[1]])
            case 5 if isinstance(container[key], list) and container[key]:
                container[key] *= rng.randint(2, 4)
            case 6 if isinstance(container[key], str):
                container[key] = mutated_text(rng, container[key], longest=400)
            case _:
                container[key] = copy.deepcopy(rng.choice(_VALUES))
    return holder[0]


def _places(value: Json) -> Iterator[tuple[Json, Json]]:
    """Yields every member and item of a document as its container and key."""
    keys = [*value] if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def quiet(error: GatewayError) -> None:
    """Checks that an error repeats nothing private."""
    said = f"{error.message} {error.param} {error.code}"
    assert not [canary for canary in _CANARIES if canary in said], "the message repeats a value"
