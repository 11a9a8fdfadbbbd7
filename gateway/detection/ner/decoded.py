"""Decodes what a model could not read: letters written as escapes or references, words as base64, escaped white space.

What JSON escapes (`\\u00fc`), HTML refers to (`&#252;`) and URLs or mails encode (`%C3%BC`, `=C3=BC`) is no name to a
model. The decoded surroundings are one more text to read; what is found in them is hidden as it was written.

White space that JSON and programs escape (`\\n`) needs no text of its own, since it can be padded to its length.
"""

import re
from collections.abc import Iterable, Iterator

from gateway.detection.deobfuscation import base64, entities, escapes, identifiers, mail_encodings, percent
from gateway.detection.deobfuscation.base import Edit
from gateway.detection.deobfuscation.rewrite import RewrittenText
from gateway.detection.normalized_text import NormalizedText, normalize_text
from gateway.detection.prefilter import Prefilter, PrefilterPattern
from gateway.models import Entity

_DECODED = (
    escapes.DEOBFUSCATION,
    entities.DEOBFUSCATION,
    percent.DEOBFUSCATION,
    mail_encodings.QUOTED_PRINTABLE,
    mail_encodings.ENCODED_WORDS,
    base64.FOR_KNOWN_VALUES,
    identifiers.FILE_NAMES,
)
# Escapes of letters beyond ASCII, of spaces in names, and base64. The models read escapes of signs alone, as in JSON
# within JSON.
_PREFILTER = Prefilter(
    [
        PrefilterPattern(r"\\u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f])|\\x[0-9A-Fa-f]{2}\\x", b"\\"),
        PrefilterPattern(
            r"&(?:#[xX]?[0-9A-Fa-f]{2}|[A-Za-z]+(?:acute|grave|circ|uml|tilde|cedil|lig|ring|slash|caron);)", b"&"
        ),
        PrefilterPattern(r"%(?:25)*[C-Fc-f][0-9A-Fa-f]%|[A-Za-z]%(?:25)*20[A-Z]", b"%"),
        PrefilterPattern(r"=[C-F][0-9A-F]=[89AB][0-9A-F]", b"="),
        PrefilterPattern(mail_encodings.ENCODED_WORDS.prefilter, b"=?"),
        PrefilterPattern(base64.FOR_KNOWN_VALUES.prefilter),
        PrefilterPattern(identifiers.FILE_NAMES.prefilter),
    ]
)

_CARET = re.compile(r"(?<=[^\W\d_]{2})\^(?=[^\W\d_]{2})")
_BLANKS = {"n": "\n", "r": " ", "t": "\t"}
_ESCAPED_SPACE = re.compile(r"(?<!\\)(\\+([nrt]))(?=(.?))", re.DOTALL)


def with_blanks(text: str) -> str:
    """Returns a text with line breaks and spaces in place of the escapes for them, padded to their length.

    To a model, `nAnna` in `\\nAnna` would be a word. Before a small letter, what looks like an escape stays: it may be
    part of a path (`C:\\new`) or a command of TeX (`\\nu`). The sign in `Roe^Jane` (HL7) is a space, too.
    """
    text = _ESCAPED_SPACE.sub(_blank, text) if "\\" in text else text
    return _CARET.sub(" ", text) if "^" in text else text


def _blank(found: "re.Match[str]") -> str:
    return found[1] if found[3].islower() else _BLANKS[found[2]].rjust(len(found[1]))


class DecodedText:
    """The decoded surroundings of what is encoded in a text, as `text`."""

    __slots__ = ("_rewritten", "_source", "text")

    def __init__(self, source: NormalizedText, edits: Iterable[Edit]) -> None:
        self._source = source
        self._rewritten = RewrittenText(source.data, edits)
        self.text = self._rewritten.data.decode()

    def in_source(self, found: Iterable[Entity]) -> Iterator[Entity]:
        """Yields what was found in the decoded text, in order, and is encoded in the source, with its place there."""
        kept: list[Entity] = []
        spans: list[tuple[int, int]] = []
        at = end = 0
        for one in found:
            start = end + len(self.text[at : one.start].encode())
            at, end = one.end, start + len(self.text[one.start : one.end].encode())
            if (span := self._rewritten.span(start, end, one.score)) is not None:
                kept.append(one)
                spans.append(span)
        for one, (start, end) in zip(kept, self._source.source_spans(spans), strict=True):
            yield one._replace(start=start, end=end)


def decoded(text: str) -> DecodedText | None:
    """Returns the decoded surroundings of what is encoded in a text, or None if nothing in it is."""
    # Normalizing replaces lone surrogates, which UTF-8 cannot encode; no prefilter needs them.
    hits = _PREFILTER.hits(text.encode("utf-8", "replace"))
    if not hits:
        return None
    normalized = normalize_text(text)
    edits = [
        edit
        for hit in hits
        for edit in _DECODED[hit].edits(normalized.data, ())
        if edit.data == b" " or not edit.data.isascii() or len(edit.data) > 1 or edit.data.isalpha()
    ]
    return DecodedText(normalized, edits) if edits else None
