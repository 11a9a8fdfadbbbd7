"""RTF: encodings of fonts, Unicode, notes and tables."""

import pytest

from gateway.attachments.base import Reason, Refused
from tests.gateway.attachments.kinds.readings import read


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"\ansicpg1252 Gr\'f6\'dfe", "Größe"),
        (rb"{\fonttbl{\f1\fcharset204 A;}}{\f1 \'cf\'f0}", "Пр"),
        (rb"\uc1\u8364? a\u-3913?", "€ a\uf0b7"),
        (rb"\uc2\u228\'e4\'e4b", "äb"),
        (rb"\u-10179?\u-8704?", "😀"),
        (rb"a\par b\tab c\line d\emdash\~", "a\nb\tc\nd—"),
        (rb"a{\footnote b}c", "a [b] c"),
        (rb"{\header a}b", "[a] b"),
        (rb"{\info{\author a}}{\*\generator b;}c", "c"),
        (rb'{\field{\*\fldinst HYPERLINK "a"}{\fldrslt b}}', '("a") b'),
        (rb"a\par\trowd\cellx1 b\cell c\cell\row\trowd\cellx1 d\cell\row\pard e",
         "a\n\n| b | c |\n| --- | --- |\n| d |  |\n\ne"),
        (rb"{\v a}{\cf8 b}{\deleted c}", "abc"),
        (b"a\r\nb\\{\\}\\\\", "ab{}\\"),
    ],
)  # fmt: skip
def test_all_text_is_found(body: bytes, text: str) -> None:
    assert read(b"{\\rtf1\\ansi " + body + b"}", "a.rtf") == text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (rb"\ansicpg932 \'81", Reason.ENCODING),
        (rb"\ansicpg99999 a", Reason.ENCODING),
        (rb"\bin3 abc", Reason.EMBEDDED),
        (b"a}b", Reason.MALFORMED),
        (b"{a", Reason.MALFORMED),
    ],
)
def test_what_cannot_be_read_is_refused(body: bytes, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        read(b"{\\rtf1\\ansi " + body + b"}", "a.rtf")
    assert refused.value.reason is reason
