"""Decodes the encodings of mail: quoted-printable (RFC 2045, section 6.7), `=40` and soft line breaks, and the encoded
words of headers (RFC 2047), `=?UTF-8?Q?J=C3=BCrgen?=` and `=?utf-8?B?SsO8cmdlbg==?=`.
"""

import binascii
from collections.abc import Iterator

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import edits_for_run, is_text
from gateway.detection.deobfuscation.line_wrapping import is_setting
from gateway.detection.normalized_text import normalize_text

_EXPRESSIONS = Expressions(read_toml(__file__)["expressions"])
_RUN, _SURE, _BREAK, _WORD = _EXPRESSIONS.of_bytes("run", "sure", "break", "word")
_NEXT = 10


def _quoted_printable(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    match = _SURE.search(data)
    while match is not None and (run := _RUN.match(data, match.start())) is not None:
        end = run.end()
        yield from edits_for_run(run[0], run.start(), 3, b"=", 0.6)
        match = _RUN.search(data, end, end + _NEXT) or _SURE.search(data, end)
    # In settings, it is the padding of base64.
    breaks = (found.span() for found in _BREAK.finditer(data))
    yield from [Edit(*each, b"", 0.6) for each in breaks if not is_setting(data, *each)]


def _encoded_words(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for found in _WORD.finditer(data):
        charset, code, encoded = found.groups()
        decoded = _decode_word(charset.decode(), encoded, is_base64=code in b"Bb")
        if decoded is not None:
            yield Edit(*found.span(), decoded)


def _decode_word(charset: str, encoded: bytes, *, is_base64: bool) -> bytes | None:
    try:
        raw = binascii.a2b_base64(encoded) if is_base64 else binascii.a2b_qp(encoded, header=True)
        data = normalize_text(raw.decode(charset)).data
    except (ValueError, LookupError):
        return None
    return data if data and is_text(data) else None


QUOTED_PRINTABLE = Deobfuscation("quoted_printable", RewriteKind.DECODE, _EXPRESSIONS["prefilter"], _quoted_printable)
ENCODED_WORDS = Deobfuscation(
    "encoded_words", RewriteKind.UNPACK, r"=\?[A-Za-z0-9\-*]{3,30}\?[QqBb]\?[!->@-~]", _encoded_words, b"=?"
)
