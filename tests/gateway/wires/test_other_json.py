"""Calls that no wire knows: which strings in them are files, of which nothing can be searched."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

import pytest

from gateway.wires.other_json import OTHER_JSON
from tests.tables import table

CASES = table(__file__)

REST = bytes(range(60))


@pytest.mark.parametrize("beginning", CASES["beginnings"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_file_in_base64_is_an_attachment(encode: Callable[[bytes], bytes], beginning: str) -> None:
    data = encode(beginning.encode("latin-1") + REST).decode()
    conversation = OTHER_JSON.read({"instances": [{"image": {"bytesBase64Encoded": data}, "prompt": "draw"}]})
    assert conversation.attachments == ("data",)
    assert data not in " ".join(conversation.texts())
    assert any("draw" in text for text in conversation.texts())


@pytest.mark.parametrize(
    "text",
    [
        b64encode(b"To anna@acme.example, a text that can be searched").decode(),
        "JVBERi is how a PDF begins in base64, and this is prose about it",
        "R0lGODlh",
        "/9j/ " + "a" * 60,
    ],
)
def test_text_is_none(text: str) -> None:
    conversation = OTHER_JSON.read({"input": text})
    assert conversation.attachments == ()
    assert any(text in each for each in conversation.texts())
