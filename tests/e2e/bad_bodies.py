"""Bodies that are no JSON object, or none that every reader understands alike; each is a sound body with one fault."""

import gzip
import json
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bad:
    """A bad body, and the answer that it must get."""

    content: bytes
    status: int
    code: str
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


def malformed(sound: bytes) -> dict[str, Bad]:
    """`sound` is the JSON of an object. Everything here is `invalid_json`."""
    opened = sound[:-1]
    key = json.dumps(next(iter(json.loads(sound)))).encode()
    escaped = b'"\\u%04x' % key[1] + key[2:]

    def beside(value: bytes) -> bytes:
        return opened + b',"x":' + value + b"}"

    bodies = {
        "empty": b"",
        "white-space": b" \n\t",
        "prose": b"Zebulon Quagmire",
        "cut-short": opened,
        "two-values": sound + sound,
        "comma-at-the-end": opened + b",}",
        "single-quotes": sound.replace(b'"', b"'"),
        "comment": b"/* Zebulon Quagmire */" + sound,
        "list": b"[" + sound + b"]",
        "string": b'"Zebulon Quagmire"',
        "number": b"7",
        "null": b"null",
        "true": b"true",
        "byte-order-mark": b"\xef\xbb\xbf" + sound,
        "utf-16": sound.decode().encode("utf-16"),
        "latin-1": beside('"Zébulon"'.encode("latin-1")),
        "utf-8-cut-short": beside(b'"\xe2\x82"'),
        "utf-8-overlong": beside(b'"\xc0\xaf"'),
        "utf-8-of-a-surrogate": beside(b'"\xed\xa0\x80"'),
        "high-surrogate": beside(b'"\\ud800"'),
        "low-surrogate": beside(b'"\\udc00"'),
        "surrogates-swapped": beside(b'"\\udc00\\ud800"'),
        "surrogate-in-a-key": opened + b',"\\ud800":1}',
        "nul-in-a-string": beside(b'"Zebulon\x00"'),
        "nul-between": b"{\x00" + sound[1:],
        "line-break-in-a-string": beside(b'"Zebulon\nQuagmire"'),
        "nan": beside(b"NaN"),
        "infinity": beside(b"Infinity"),
        "minus-infinity": beside(b"-Infinity"),
        "exponent-too-large": beside(b"1e999"),
        "exponent-too-low": beside(b"-1e999"),
        "number-of-400-digits": beside(b"1" + b"0" * 400),
        "above-64-bits": beside(str(2**64).encode()),
        "below-64-bits": beside(str(-(2**63) - 1).encode()),
        "leading-zero": beside(b"01"),
        "plus": beside(b"+1"),
        "hexadecimal": beside(b"0x10"),
        "bare-fraction": beside(b".5"),
        "deep-list": beside(b"[" * 100 + b"]" * 100),
        "deep-object": beside(b'{"a":' * 100 + b"1" + b"}" * 100),
        "very-deep": beside(b"[" * 30_000),
        "duplicate-key": b"{" + key + b":1," + sound[1:],
        "duplicate-key-escaped": b"{" + escaped + b":1," + sound[1:],
        "duplicate-key-below": beside(b'{"a":1,"a":2}'),
        "duplicate-key-empty": beside(b'{"":1,"":2}'),
    }
    return {name: Bad(content, 400, "invalid_json") for name, content in bodies.items()}


def coded(sound: bytes, limit: int) -> dict[str, Bad]:
    """Bodies over the limit, and content codings that do not fit."""
    packed, where = gzip.compress(sound), "Content-Encoding"
    padded = sound + b" " * limit

    def under(coding: str, content: bytes, status: int, code: str, param: str | None = where) -> Bad:
        return Bad(content, status, code, param, {"content-encoding": coding})

    return {
        "too-large": Bad(padded, 413, "body_too_large"),
        "too-large-unpacked": under("gzip", gzip.compress(padded), 413, "body_too_large", None),
        "coding-unknown": under("compress", packed, 415, "unsupported_encoding"),
        "coding-of-private-text": under("Zebulon-Quagmire", packed, 415, "unsupported_encoding"),
        "coding-twice": under("gzip, gzip", gzip.compress(packed), 415, "unsupported_encoding"),
        "not-packed": under("gzip", sound, 400, "invalid_encoding"),
        "packed-otherwise": under("br", packed, 400, "invalid_encoding"),
        "packed-and-cut-short": under("gzip", packed[:-4], 400, "invalid_encoding"),
        "packed-with-more-behind": under("gzip", packed + b"Zebulon", 400, "invalid_encoding"),
        "packed-but-not-named": Bad(packed, 400, "invalid_json"),
    }


def typed(sound: bytes) -> dict[str, Bad]:
    """JSON that is not called JSON."""
    kinds = {
        "text": "text/plain",
        "form": "application/x-www-form-urlencoded",
        "multipart": "multipart/form-data; boundary=x",
        "almost-json": "application/jsonp",
        "private-text": "Zebulon/Quagmire",
        "nothing": "",
    }
    return {
        f"called-{name}": Bad(sound, 415, "unsupported_media_type", "Content-Type", {"content-type": kind})
        for name, kind in kinds.items()
    }
