"""Decodes encoded words of mail headers (RFC 2047): `=?UTF-8?Q?J=C3=BCrgen?=`, `=?utf-8?B?SsO8cmdlbg==?=`."""

import binascii
import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.normalized_text import normalize_text

# Only charsets that mail uses: for any other name, Python would search for a codec module and cache the result.
_CHARSETS = (
    rb"(?i:utf-?(?:7|8|16|32)|(?:us-)?ascii|latin-?1|iso-8859-1?[0-9]|(?:windows-|cp)(?:125[0-8]|874|932|936|949|950)"
    rb"|koi8-[ru]|gb2312|hz-gb-2312|gbk|gb18030|big5|big5-hkscs|euc-(?:jp|kr|cn)|iso-2022-(?:jp|kr)|shift-?jis|tis-620)"
)
_WORD = re.compile(
    rb"=\?(" + _CHARSETS + rb")(?:\*[A-Za-z\-]{2,8})?\?([QqBb])\?([!->@-~]{1,200})\?=(?:\s{1,8}(?==\?))?"
)


def _edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for found in _WORD.finditer(data):
        charset, code, encoded = found.groups()
        decoded = _decode(charset.decode(), encoded, is_base64=code in b"Bb")
        if decoded is not None:
            yield Edit(*found.span(), decoded)


def _decode(charset: str, encoded: bytes, *, is_base64: bool) -> bytes | None:
    try:
        raw = binascii.a2b_base64(encoded) if is_base64 else binascii.a2b_qp(encoded, header=True)
        data = normalize_text(raw.decode(charset)).data
    except (ValueError, LookupError):
        return None
    return data if data and is_text(data) else None


DEOBFUSCATION = Deobfuscation(
    "encoded_words", RewriteKind.UNPACK, r"=\?[A-Za-z0-9\-*]{3,30}\?[QqBb]\?[!->@-~]", _edits, b"=?"
)
