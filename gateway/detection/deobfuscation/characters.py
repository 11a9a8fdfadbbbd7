"""Characters that other notations stand for, as the folded view would show them."""

from collections.abc import Iterable, Iterator

from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.unicode_folding import FoldTable

_FOLDS = FoldTable()
_HIGHEST = 0x10FFFF
_PRINTABLE = bytes((9, 10, 13, *range(0x20, 0x7F), *range(0x80, 0x100)))


def folded(code: int) -> bytes | None:
    """UTF-8 of the folded character; None for what is no character a reader would see as text."""
    if code > _HIGHEST or 0xD800 <= code <= 0xDFFF:
        return None
    if code < 0x80:
        return bytes((code,)) if code >= 0x20 or code in {9, 10, 13} else None
    return _FOLDS[code].encode()


def is_text(data: bytes) -> bool:
    """Whether bytes are text: UTF-8 without control characters. A picture or a hash is not."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return not data.translate(None, _PRINTABLE)


def of_run(run: bytes, start: int, size: int, mark: bytes, need: float = 0.0) -> Iterator[Edit]:
    """Edits for a run of bytes that are each written as `mark` and two hexadecimal digits, `size` bytes in all."""
    raw = bytes.fromhex(run.replace(mark, b"").decode("ascii"))
    if raw.isascii() and not raw.translate(None, _PRINTABLE):
        yield Edit(start, start + len(run), raw, need, (size, 1))
    else:
        yield from of_bytes(((start + at * size, start + (at + 1) * size, byte) for at, byte in enumerate(raw)), need)


def of_bytes(units: Iterable[tuple[int, int, int]], need: float = 0.0) -> Iterator[Edit]:
    """Edits for bytes that are written one by one: (start, end, value). A character of several bytes is one edit."""
    pending: list[tuple[int, int, int]] = []
    for start, end, value in units:
        if pending and pending[-1][1] != start:
            pending.clear()
        if value < 0x80:
            pending.clear()
            shown = folded(value)
            if shown is not None:
                yield Edit(start, end, shown, need)
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
        yield Edit(pending[0][0], end, folded(ord(char)) or b"", need)
        pending.clear()
