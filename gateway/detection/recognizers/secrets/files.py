"""Finds credentials in files of a known format. Rules: `files.toml`."""

from collections.abc import Iterator

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import table

_IS_SECRET = compile_pattern(r"(?im)^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?secret[\"']?[ \t]*,?\r?$")
_BLOCK = compile_pattern(
    r"(?m)^([ \t]*)[\"']?(?:data|stringData)[\"']?[ \t]*:[ \t]*\{?[ \t]*\r?\n((?:[ \t]+\S[^\n]*(?:\n|$)|[ \t]*\r?\n)+)"
)
_ENTRY = compile_pattern(
    r"(?m)^([ \t]+)([\w.\-/\"']{1,128}[ \t]*:[ \t]*(?:[|>][+\-]?[ \t]*\r?\n[ \t]+)?[\"']?([^\s\"',#{]{8,})[\"']?)"
)
_DOCUMENT_END = compile_pattern(r"(?m)^---")


def _manifests(normalized: NormalizedText) -> Iterator[Match]:
    """Yields each value under `data` and `stringData`, of any name."""
    data = normalized.data
    first = 0
    for last in (*(match.start() for match in _DOCUMENT_END.finditer(data)), len(data)):
        if _IS_SECRET.search(data, first, last):
            for block in _BLOCK.finditer(data[first:last]):
                yield from _entries(normalized, first + block.start(2), block[1], block[2])
        first = last


def _entries(normalized: NormalizedText, offset: int, indent: bytes, block: bytes) -> Iterator[Match]:
    """Whole entries, name and value, down to where the indentation ends."""
    for match in _ENTRY.finditer(block):
        if len(match[1]) <= len(indent):
            return
        value = match[3].decode("utf-8", "replace")
        decoded = checks.decode(value)
        if not values.is_stand_in(value) and (
            decoded is None or (len(decoded) >= 6 and not values.is_stand_in(decoded))
        ):
            yield Match(offset + match.start(2), offset + match.end(2), 0.85, checks.SECRET.name)


RECOGNIZERS = (table("files", {"manifests": _manifests}),)
