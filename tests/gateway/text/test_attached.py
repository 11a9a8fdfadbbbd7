"""A file has no text until it is converted, and is sent as it is only with its other fields protected."""

import pytest

from gateway.models import Action
from gateway.text.attached import AttachmentField
from gateway.text.fields import Place, Span, TextField


def field(data: str = "QUJD") -> AttachmentField:
    holder = {"a": "b"}
    return AttachmentField(
        data, "text/plain", "a.txt", ["file"], lambda text: (holder, "a"), lambda: [TextField(holder, "a", "b")]
    )


@pytest.mark.parametrize(("data", "decoded"), [("QUJD", b"ABC"), ("_-8=", b"\xff\xef"), ("A", None), ("ä", None)])
def test_base64(data: str, decoded: bytes | None) -> None:
    assert field(data).decoded() == decoded


def test_its_text_is_protected_once_it_is_converted() -> None:
    one = field()
    assert (one.texts, one.protected(), one.is_decided) == ((), (), False)
    one.convert("to anna")
    assert (one.texts, one.is_decided, one.data) == (("to anna",), True, "")
    one.apply([[Span(3, 7, "PERSON", Action.PLACEHOLDER, 1.0, "a")]], lambda span, value, raw=None: "[X]")
    assert one.protected() == (one.container["a"],) == ("to [X]",)


def test_other_fields_take_its_place() -> None:
    one = field()
    one.place = Place.TOOL_RESULT
    (other,) = one.let_pass()
    assert (other.texts, other.place, one.is_decided) == (("b",), Place.TOOL_RESULT, True)
