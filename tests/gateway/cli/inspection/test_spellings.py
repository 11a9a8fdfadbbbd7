"""A text is read in every encoding that a careful reviewer would try."""

import gzip
import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from gateway.cli.inspection.spellings import folded, readings, squeezed

VALUE = "Anna Schmidt?>~"
ENCODED = {
    "percent": "".join(f"%{byte:02X}" for byte in VALUE.encode()),
    "plus": "q=Anna+Schmidt%3F%3E~",
    "escapes": json.dumps("".join(f"\\u{ord(char):04x}" for char in VALUE))[1:-1],
    "hexadecimal escapes": "".join(f"\\x{byte:02x}" for byte in VALUE.encode()),
    "entities": "".join(f"&#{ord(char)};" for char in VALUE),
    "base64": b64encode(VALUE.encode()).decode(),
    "base64 for URLs": urlsafe_b64encode(VALUE.encode()).decode().rstrip("="),
    "base64 in lines": b64encode(("x" * 60 + VALUE).encode()).decode()[:76]
    + "\r\n"
    + b64encode(("x" * 60 + VALUE).encode()).decode()[76:],
    "base64 after letters": "data" + b64encode(("say " + VALUE).encode()).decode(),
    "base64 of UTF-16": b64encode(VALUE.encode("utf-16-le")).decode(),
    "compressed": b64encode(gzip.compress(VALUE.encode())).decode(),
    "hexadecimal": VALUE.encode().hex(),
    "hexadecimal with colons": VALUE.encode().hex(":").upper(),
    "twice": quote(b64encode(b64encode(VALUE.encode())).decode()),
    "three times": json.dumps({"a": json.dumps({"b": b64encode(VALUE.encode()).decode()})}),
}


@pytest.mark.parametrize("how", ENCODED)
def test_an_encoded_value_is_read(how: str) -> None:
    read = [text for _, text in readings(f"before {ENCODED[how]} after", 4)]
    assert any(VALUE in text for text in read), read


def test_a_reading_names_its_encodings() -> None:
    found = {text: how for how, text in readings(quote(b64encode(VALUE.encode()).decode()), 4)}
    assert found[VALUE] == "in percent-encoding in base64" or found[VALUE] == "percent-encoding in base64"


def test_plain_text_has_one_reading_and_too_many_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(readings("Hi, Anna.", 4)) == [("", "Hi, Anna.")]
    monkeypatch.setattr("gateway.cli.inspection.spellings._SPARE", 10)
    monkeypatch.setattr("gateway.cli.inspection.spellings._EXPANSION", 0)
    with pytest.raises(OverflowError):
        list(readings(quote("ü" * 100), 4))


def test_a_bomb_is_not_unpacked() -> None:
    bomb = b64encode(gzip.compress(b"a" * 50_000_000)).decode()
    with pytest.raises(OverflowError):
        list(readings(bomb + bomb, 4))


def test_differences_of_spelling_are_folded() -> None:
    assert folded("ＡＮＮＡ\u200b  Schm\u00adidt\n") == "anna schmidt "
    assert folded("Mu\u0308ller") == folded("MÜLLER")
    assert squeezed(folded("DE89 3704-0044")) == "de8937040044"
