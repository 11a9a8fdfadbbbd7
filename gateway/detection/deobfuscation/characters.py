"""Converts decoded code points and bytes to folded characters, as in normalized text."""

from collections.abc import Iterable, Iterator

from gateway.detection.deobfuscation.base import Edit
from gateway.detection.unicode_folding import FOLDING

_HIGHEST = 0x10FFFF
_PRINTABLE = bytes((9, 10, 13, *range(0x20, 0x7F), *range(0x80, 0x100)))


def folded_character(code: int) -> bytes | None:
    """Returns the folded character as UTF-8, or None for a control character or invalid code point."""
    if code > _HIGHEST or 0xD800 <= code <= 0xDFFF:
        return None
    if code < 0x80:
        return bytes((code,)) if code >= 0x20 or code in {9, 10, 13} else None
    return FOLDING[code].encode()


def is_text(data: bytes) -> bool:
    """Returns whether bytes are text: UTF-8 without control characters, unlike images and hashes."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return not data.translate(None, _PRINTABLE)


def edits_for_run(run: bytes, start: int, size: int, mark: bytes, min_score: float = 0.0) -> Iterator[Edit]:
    """Yields edits for a run of bytes, each written as `mark` and two hexadecimal digits: `size` bytes in total."""
    raw = bytes.fromhex(run.replace(mark, b"").decode("ascii"))
    if raw.isascii() and not raw.translate(None, _PRINTABLE):
        yield Edit(start, start + len(run), raw, min_score, (size, 1))
    else:
        yield from edits_for_bytes(
            ((start + at * size, start + (at + 1) * size, byte) for at, byte in enumerate(raw)), min_score
        )


def edits_for_bytes(units: Iterable[tuple[int, int, int]], min_score: float = 0.0) -> Iterator[Edit]:
    """Yields edits for bytes written one by one: (start, end, value). A multi-byte character is one edit."""
    pending: list[tuple[int, int, int]] = []
    for start, end, value in units:
        if pending and pending[-1][1] != start:
            pending.clear()
        if value < 0x80:
            pending.clear()
            character = folded_character(value)
            if character is not None:
                yield Edit(start, end, character, min_score)
            continue
        if value >= 0xC0:
            pending.clear()
        pending.append((start, end, value))
        try:
            char = bytes(each for _, _, each in pending).decode()
        except UnicodeDecodeError:
            if len(pending) == 4:
                pending.clear()
            continue
        yield Edit(pending[0][0], end, folded_character(ord(char)) or b"", min_score)
        pending.clear()
