"""Decodes the bytes of a text. An encoding is never guessed: a wrong guess would change the text."""

import codecs
import re

from gateway.attachments.base import Reason, Refused

CODECS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "ascii", "latin-1", "iso8859-2", "iso8859-5"),
    *("iso8859-7", "iso8859-8", "iso8859-9", "iso8859-15", "koi8-r", "koi8-u", "gbk", "gb2312", "gb18030", "big5"),
    *("cp437", "cp850", "cp852", "cp866", "cp874", "cp932", "cp949", "cp950", "cp1250", "cp1251", "cp1252", "cp1253"),
    *("cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "mac-roman", "shift_jis", "euc-jp", "euc-kr", "iso2022_jp"),
)
"""The encodings that a file may name."""
_KNOWN = frozenset(codecs.lookup(name).name for name in CODECS)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def named_in(media_type: str) -> str | None:
    """Returns the encoding that a media type names, if any."""
    found = _CHARSET.search(media_type)
    return found[1] if found else None


def decoded(data: bytes, charset: str | None = None) -> str:
    """Returns a text: by its byte order mark, else in the encoding that is named, else UTF-8. Raises Refused."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        charset = "utf-16"
    elif data.startswith(codecs.BOM_UTF8):
        charset = "utf-8-sig"
    try:
        name = codecs.lookup(charset or "utf-8").name
        if name not in _KNOWN:
            raise Refused(Reason.ENCODING)
        text = data.decode(name)
    except (LookupError, UnicodeError):
        raise Refused(Reason.ENCODING) from None
    if _BINARY.search(text):
        raise Refused(Reason.MALFORMED)
    return text.replace("\r\n", "\n").replace("\r", "\n")
