"""Decodes the encodings of mail: quoted-printable (RFC 2045, section 6.7), `=40` and soft line breaks, and the encoded
words of headers (RFC 2047), `=?UTF-8?Q?J=C3=BCrgen?=` and `=?utf-8?B?SsO8cmdlbg==?=`.
"""

import binascii
import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import edits_for_run, is_text
from gateway.detection.deobfuscation.line_wrapping import is_setting
from gateway.detection.normalized_text import normalize_text

_RUN = re.compile(rb"=[0-9A-F]{2}(?:=[0-9A-F]{2})*")
# Letters and digits are not encoded, so `size=41` is a size unless several codes follow each other. A single code has
# to be a sign that occurs in values, and one that reads as a number before a number needs a second code.
_SURE = re.compile(
    rb"=[0-9A-F]{2}=[0-9A-F]{2}|"
    rb"=(?:(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F]))"
)
_BREAK = re.compile(rb"=\r?\n")
_NEXT = 10
_PREFILTER = (
    r"=(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|=(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F])"
    r"|(?:=[2-7][0-9A-F]){2}|=[C-F][0-9A-F]=[89AB][0-9A-F]|[A-Za-z0-9]=\r?\n"
)
# Only charsets that mail uses: for any other name, Python would search for a codec module and cache the result.
_CHARSETS = (
    rb"(?i:utf-?(?:7|8|16|32)|(?:us-)?ascii|latin-?1|iso-8859-1?[0-9]|(?:windows-|cp)(?:125[0-8]|874|932|936|949|950)"
    rb"|koi8-[ru]|gb2312|hz-gb-2312|gbk|gb18030|big5|big5-hkscs|euc-(?:jp|kr|cn)|iso-2022-(?:jp|kr)|shift-?jis|tis-620)"
)
_WORD = re.compile(
    rb"=\?(" + _CHARSETS + rb")(?:\*[A-Za-z\-]{2,8})?\?([QqBb])\?([!->@-~]{1,200})\?=(?:\s{1,8}(?==\?))?"
)


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


QUOTED_PRINTABLE = Deobfuscation("quoted_printable", RewriteKind.DECODE, _PREFILTER, _quoted_printable)
ENCODED_WORDS = Deobfuscation(
    "encoded_words", RewriteKind.UNPACK, r"=\?[A-Za-z0-9\-*]{3,30}\?[QqBb]\?[!->@-~]", _encoded_words, b"=?"
)
