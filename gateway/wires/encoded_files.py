"""Recognizes base64 that no one can search: files, and anything that does not decode to text.

Where no member says what it holds, the beginning of the decoded bytes does. Data without a known beginning is
unreadable if most of it is text in an encoding that the search does not read, or if it is longer than keys and
signatures are.
"""

import binascii
import re
import zlib
from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.detection.deobfuscation.base64 import is_searched
from gateway.errors import BadRequest
from gateway.http.strict_json import Json, parse
from gateway.wires.reading import is_opaque

_WORDS = word_lists(__file__)
# PNG, JPEG, GIF, RIFF, TIFF, BMP, Photoshop, JPEG XL, icons, ISO media, Matroska, Ogg, ID3, FLAC, AIFF, MIDI, AMR, PDF,
# OLE, ZIP, gzip, 7z, zstd, LZ4, xz, bzip2, RAR, SQLite, Parquet, NumPy, fonts, programs.
_FILE = re.compile(
    rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF.{4}\w{4}|II\*\x00|MM\x00\*|BM.{4}\x00{4}|8BPS\x00|\x00\x00\x00\x0cJXL "
    rb"|\x00\x00[\x01\x02]\x00[^\x00]\x00|.{4}ftyp[A-Za-z0-9 ]{3}|\x1a\x45\xdf\xa3|OggS|ID3[\x02-\x04]|fLaC"
    rb"|FORM.{4}AIF|MThd\x00|#!AMR|%PDF-|\xd0\xcf\x11\xe0|PK\x03\x04|\x1f\x8b\x08|7z\xbc\xaf|\x28\xb5\x2f\xfd"
    rb"|\x04\x22\x4d\x18|\xfd7zXZ|BZh[1-9]1AY|Rar!\x1a|SQLite format 3\x00|PAR1[\x15]|\x93NUMPY|wOF[F2]|OTTO\x00"
    rb"|\x00\x01\x00\x00\x00|\x7fELF|MZ[\x78\x90]\x00|\x00asm\x01",
    re.DOTALL,
)
_SVG = re.compile(rb"\s*<(?:(?:\?xml|!--|!DOCTYPE svg).{0,1024}?<)?svg[\s>]", re.DOTALL | re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_ALL_KINDS = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])")
_TO_STANDARD = str.maketrans("-_", "+/")
_SHORTEST, _SHORTEST_WEAK = 40, 64
_SHORTEST_LINE = 32
# A signature of RSA with 4096 bits has 684 characters in base64.
_LONGEST_OPAQUE = 1024
_LONG_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{_LONGEST_OPAQUE},}}={{0,2}}")
_TEXT_BYTES = bytes((9, 10, 13, *range(0x20, 0x7F)))
_MOST_TEXT, _LEAST_SHOWN = 0.85, 0.2
_BYTE_ORDERS = (b"\xff\xfe", b"\xfe\xff")
_MOST_LAYERS = 4


def is_unreadable(value: str, container: Any = None, key: object = "", layers: int = _MOST_LAYERS) -> bool:
    """Whether a string, `container[key]`, is a file in base64, or other data that cannot be searched."""
    run = _joined(value)
    return bool(run) and _is_unreadable(run, layers, is_own=_is_providers(run, container, key))


def has_unreadable(value: str, container: Any = None, key: object = "", layers: int = _MOST_LAYERS) -> bool:
    """Whether a text has such data in it: in the strings of a JSON document, or in a run that is longer than any word,
    key or signature.
    """
    if _LONG_RUN.search(value) is None or _is_providers(value, container, key):
        return False
    if value[:1] in {"{", "["} and layers > 0:
        try:
            return any(
                is_unreadable(*each, layers=layers - 1) or has_unreadable(*each, layers=layers - 1)
                for each in _strings(parse(value), None, "")
            )
        except BadRequest:
            pass
    return any(_is_unreadable(found[0], layers) for found in _LONG_RUN.finditer(value))


def _strings(value: Json, container: Any, key: object) -> Iterator[tuple[str, Any, object]]:
    if isinstance(value, str):
        yield value, container, key
    elif isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, str):
                yield name, None, ""
            yield from _strings(member, value, name)


def _is_providers(value: str, container: Any, key: object) -> bool:
    """Whether a member is for data that only the provider reads, and has such data."""
    if key == "data" and isinstance(container, dict):
        is_for_data = container.get("type") == "redacted_thinking"
    else:
        is_for_data = key in _WORDS["opaque"]
    return is_for_data and is_opaque(value)


def _joined(value: str) -> str:
    """Returns the run of base64 that a string is, without its line breaks; else an empty string."""
    first, *rest = value.split() or [""]
    if rest and (len(first) < _SHORTEST_LINE or any(len(line) != len(first) for line in rest[:-1])):
        return ""
    run = "".join((first, *rest))
    return run if len(run) >= _SHORTEST and _RUN.fullmatch(run) is not None else ""


def _is_unreadable(run: str, layers: int, *, is_own: bool = False) -> bool:
    """Whether a run is no text. `is_own` says that it looks like data of the provider, in a member for such data."""
    data = _decoded(run)
    if _FILE.match(data) is not None or _SVG.match(data) is not None:
        return True
    if len(run) < _SHORTEST_WEAK:
        return False
    if is_searched(run.encode()):
        text = data.decode("utf-8", "replace")
        inner = _joined(text)
        if layers == 0:
            return bool(inner)
        return _is_unreadable(inner, layers - 1) if inner else has_unreadable(text, layers=layers - 1)
    if _is_other_text(data) or _is_deflated(data):
        return True
    return len(run) >= _LONGEST_OPAQUE and not is_own and _ALL_KINDS.match(run) is not None


def _decoded(run: str) -> bytes:
    run = run.rstrip("=").translate(_TO_STANDARD)
    run = run[: len(run) - (len(run) % 4 == 1)]
    return binascii.a2b_base64(run + "=" * (-len(run) % 4))


def _is_other_text(data: bytes) -> bool:
    """Whether data is text that the search does not read in base64, such as that in UTF-16 and in older encodings."""
    shown, zeros = len(data) - len(data.translate(None, _TEXT_BYTES)), data.count(0)
    if shown + zeros >= _MOST_TEXT * len(data) and shown >= _LEAST_SHOWN * len(data):
        return True
    try:
        # The last character may be cut.
        text = data[: len(data) // 2 * 2].decode("utf-16" if data[:2] in _BYTE_ORDERS else "utf-8", "strict")
    except UnicodeDecodeError:
        return False
    return sum(map(str.isprintable, text)) >= _MOST_TEXT * len(text)


def _is_deflated(data: bytes) -> bool:
    """Whether data is in the format of zlib (RFC 1950)."""
    if data[0] & 0x8F != 8 or int.from_bytes(data[:2]) % 31:
        return False
    try:
        return bool(zlib.decompressobj().decompress(data, 4096))
    except zlib.error:
        return False
