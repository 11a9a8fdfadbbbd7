"""google-re2's extension module in the browser: the same library, compiled to WebAssembly (`page/re2.js`).

The package's own `re2/__init__.py` runs on top of it. What the gateway does not use is left out.
"""

from enum import IntEnum
from importlib import import_module
from typing import Any

_engine: Any = import_module("svc_re2")
_match, _match_set = _engine.match, _engine.match_set
# The text that the engine holds. Many searches in a row are in the same one.
_held: bytes | None = None


def _hold(text: bytes) -> None:
    global _held  # noqa: PLW0603
    if text is not _held:
        _engine.hold(text)
        _held = text


class Error(RuntimeError):
    """The base of `re2.error`."""


class _Anchor(IntEnum):
    UNANCHORED, ANCHOR_START, ANCHOR_BOTH = 0, 1, 2


class _Encoding(IntEnum):
    UTF8, LATIN1 = 1, 2


class _Options:
    """RE2's options with their defaults. `flags` has the bits that `re2.cc` reads."""

    Encoding = _Encoding

    def __init__(self) -> None:
        self.max_mem = 8 << 20
        self.encoding = _Encoding.UTF8
        self.log_errors = self.case_sensitive = True
        self.posix_syntax = self.longest_match = self.literal = self.never_nl = self.dot_nl = False
        self.never_capture = self.perl_classes = self.word_boundary = self.one_line = False

    def flags(self) -> int:
        bits = (
            self.encoding == _Encoding.LATIN1, self.longest_match, not self.case_sensitive, self.literal, self.never_nl,
            self.dot_nl, self.never_capture, self.posix_syntax, self.perl_classes, self.word_boundary, self.one_line,
        )  # fmt: skip
        return sum(bit << place for place, bit in enumerate(bits))


class RE2:
    """A compiled expression."""

    Anchor = _Anchor
    Options = _Options
    __slots__ = ("_groups", "_id", "_options")

    def __init__(self, pattern: bytes, options: _Options) -> None:
        self._options = options
        self._id: int = _engine.compile(pattern, options.flags(), options.max_mem)
        self._groups: int = _engine.groups(self._id)

    def __del__(self) -> None:
        _engine.discard(self._id)

    def ok(self) -> bool:
        return not self.error()

    def error(self) -> bytes:
        return str(_engine.error(self._id)).encode()

    def options(self) -> _Options:
        return self._options

    def NumberOfCapturingGroups(self) -> int:  # noqa: N802
        return self._groups

    def ProgramSize(self) -> int:  # noqa: N802
        return int(_engine.program_size(self._id))

    def Match(self, anchor: _Anchor, text: bytes, start: int, end: int) -> list[tuple[int, int]]:  # noqa: N802
        _hold(text)
        found = _match(self._id, anchor.value, start, end)
        if found is None:
            return [(-1, -1)] * (self._groups + 1)
        if self._groups == 0:
            return [divmod(found, 1 << 26)]
        spans = found.to_py()
        return list(zip(spans[::2], spans[1::2], strict=True))

    @staticmethod
    def QuoteMeta(pattern: bytes) -> bytes:  # noqa: N802
        """As in re2.cc: letters, digits, underscores and bytes of other characters stay."""
        quoted = bytearray()
        for byte in pattern:
            if byte == 0:
                quoted += b"\\x00"
                continue
            if not (byte >= 0x80 or chr(byte).isalnum() or byte == ord("_")):
                quoted += b"\\"
            quoted.append(byte)
        return bytes(quoted)


class Set:
    """Expressions that are searched for at once."""

    __slots__ = ("_id",)

    def __init__(self, anchor: _Anchor, options: _Options) -> None:
        self._id: int = _engine.make_set(anchor.value, options.flags(), options.max_mem)

    def Add(self, pattern: bytes) -> int:  # noqa: N802
        return int(_engine.add(self._id, pattern))

    def Compile(self) -> bool:  # noqa: N802
        return bool(_engine.compile_set(self._id))

    def Match(self, text: bytes) -> list[int]:  # noqa: N802
        _hold(text)
        found: list[int] = _match_set(self._id).to_py()
        return [*found]


class Filter:
    """Not used by the gateway."""


def CharLenToBytes(text: bytes, start: int, length: int) -> int:  # noqa: N802
    """Returns how many bytes the next `length` characters have."""
    return len(text[start:].decode("utf-8", "surrogatepass")[:length].encode("utf-8", "surrogatepass"))


def BytesToCharLen(text: bytes, start: int, end: int) -> int:  # noqa: N802
    """Returns how many characters begin between two offsets."""
    return len(text[start:end].translate(None, bytes(range(0x80, 0xC0))))
