"""Encodings are named or UTF-8, and never guessed."""

import pytest

from gateway.attachments.base import Reason, Refused
from gateway.attachments.decoding import CODECS, decoded, named_in


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("Größe".encode(), None, "Größe"),
        ("\ufeffGröße".encode(), None, "Größe"),
        ("Größe".encode("utf-16"), None, "Größe"),
        ("Größe".encode("cp1252"), "windows-1252", "Größe"),
        ("Иван".encode("koi8-r"), "KOI8-R", "Иван"),
        (b"a\r\nb\rc", None, "a\nb\nc"),
    ],
)
def test_a_text_is_decoded_as_it_says(data: bytes, charset: str | None, text: str) -> None:
    assert decoded(data, charset) == text


@pytest.mark.parametrize(
    ("data", "charset", "reason"),
    [
        (b"Gr\xf6\xdfe", None, Reason.ENCODING),
        (b"a", "zlib_codec", Reason.ENCODING),
        (b"a", "no such", Reason.ENCODING),
        (b"+AGE-", "utf-7", Reason.ENCODING),
        (b"a\0b", None, Reason.MALFORMED),
    ],
)
def test_anything_else_is_refused(data: bytes, charset: str | None, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        decoded(data, charset)
    assert refused.value.reason is reason


def test_encodings_have_names() -> None:
    assert named_in('text/plain; Charset="iso-8859-15"') == "iso-8859-15"
    assert named_in("text/plain") is None
    assert len(set(CODECS)) == len(CODECS)
