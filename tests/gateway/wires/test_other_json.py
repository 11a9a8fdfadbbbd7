"""Calls that no wire knows: which strings in them are files, of which nothing can be searched."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

import pytest

from gateway.wires.other_json import OTHER_JSON

REST = bytes(range(60))
BEGINNINGS = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff\xe0",
    b"GIF89a",
    b"RIFF\x24\x00\x00\x00WEBP",
    b"II*\x00",
    b"MM\x00*",
    b"\x00\x00\x00\x18ftypmp42",
    b"\x1aE\xdf\xa3",
    b"OggS",
    b"ID3\x04",
    b"fLaC",
    b"%PDF-1.7",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"7z\xbc\xaf\x27\x1c",
]


@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_file_in_base64_is_an_attachment(encode: Callable[[bytes], bytes], beginning: bytes) -> None:
    data = encode(beginning + REST).decode()
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
