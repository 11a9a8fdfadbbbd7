"""Words of mail headers that are not ASCII (RFC 2047): `=?UTF-8?Q?J=C3=BCrgen?=`, `=?utf-8?B?SsO8cmdlbg==?=`."""

import binascii
import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.normalized_text import read

# As mails name them. Python would keep every other name that it is asked for, and look for a module of it.
_CHARSETS = (
    rb"(?i:utf-?(?:7|8|16|32)|(?:us-)?ascii|latin-?1|iso-8859-1?[0-9]|(?:windows-|cp)(?:125[0-8]|874|932|936|949|950)"
    rb"|koi8-[ru]|gb2312|hz-gb-2312|gbk|gb18030|big5|big5-hkscs|euc-(?:jp|kr|cn)|iso-2022-(?:jp|kr)|shift-?jis|tis-620)"
)
_WORD = re.compile(
    rb"=\?(" + _CHARSETS + rb")(?:\*[A-Za-z\-]{2,8})?\?([QqBb])\?([!->@-~]{1,200})\?=(?:\s{1,8}(?==\?))?"
)


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    for found in _WORD.finditer(data):
        charset, code, said = found.groups()
        shown = _decoded(charset.decode(), said, is_base64=code in b"Bb")
        if shown is not None:
            yield Edit(*found.span(), shown)


def _decoded(charset: str, said: bytes, *, is_base64: bool) -> bytes | None:
    try:
        raw = binascii.a2b_base64(said) if is_base64 else binascii.a2b_qp(said, header=True)
        data = read(raw.decode(charset)).data
    except (ValueError, LookupError):
        return None
    return data if data and is_text(data) else None


DRESS = Deobfuscation("encoded_words", Kind.UNPACK, r"=\?[A-Za-z0-9\-*]{3,30}\?[QqBb]\?[!->@-~]", _edits, b"=?")
