"""Base64 that no one can search, in JSON of an unknown kind: which strings count as files, and which stay text."""

import bz2
import gzip
import json
import lzma
import zlib
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable
from hashlib import shake_256

import pytest

from gateway.wires.encoded_files import has_unreadable, is_unreadable
from gateway.wires.other_json import OTHER_JSON
from tests.tables import table

CASES = table(__file__)
TEXT = "Anna Keller, anna@acme.example, card 4111 1111 1111 1111. " * 3
PACKED = {
    "gzip": gzip.compress(TEXT.encode()),
    "zlib": zlib.compress(TEXT.encode()),
    "zlib, best": zlib.compress(TEXT.encode(), 9),
    "bzip2": bz2.compress(TEXT.encode()),
    "xz": lzma.compress(TEXT.encode()),
    "base64 of an image": b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)),
}


def noise(size: int, seed: str = "") -> bytes:
    """Returns bytes that look random, as those of encrypted data, signatures and long media do."""
    return shake_256(seed.encode()).digest(size)


@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode, encodebytes])
@pytest.mark.parametrize("beginning", CASES["beginnings"])
def test_a_file_in_base64_is_an_attachment(encode: Callable[[bytes], bytes], beginning: str) -> None:
    data = encode(beginning.encode("latin-1") + noise(60)).decode()
    conversation = OTHER_JSON.read({"instances": [{"image": {"bytesBase64Encoded": data}, "prompt": "draw"}]})
    assert conversation.attachments == ("data",)
    assert data not in " ".join(conversation.texts())
    assert any("draw" in text for text in conversation.texts())


@pytest.mark.parametrize("kind", PACKED)
def test_packed_text_is_unreadable(kind: str) -> None:
    assert is_unreadable(b64encode(PACKED[kind]).decode())


@pytest.mark.parametrize(("text", "encoding"), CASES["other encodings"])
def test_text_that_the_search_does_not_decode_is_unreadable(text: str, encoding: str) -> None:
    assert is_unreadable(b64encode((text * 4).encode(encoding)).decode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_text_that_the_search_decodes_is_text(encoding: str) -> None:
    data = b64encode(TEXT.encode(encoding)).decode()
    conversation = OTHER_JSON.read({"input": data})
    assert conversation.attachments == ()
    assert any(data in text for text in conversation.texts())


@pytest.mark.parametrize("text", CASES["texts"])
def test_text_is_no_file(text: str) -> None:
    conversation = OTHER_JSON.read({"input": text})
    assert conversation.attachments == ()
    assert any(text in each for each in conversation.texts())


@pytest.mark.parametrize("size", [32, 48, 64, 128, 256, 384, 512, 700])
def test_keys_hashes_and_signatures_are_no_files(size: int) -> None:
    for seed in range(200):
        assert not is_unreadable(b64encode(noise(size, str(seed))).decode())


def test_data_longer_than_a_signature_is_unreadable() -> None:
    data = b64encode(noise(900)).decode()
    assert is_unreadable(data)
    assert has_unreadable(f'<img src="data:image/x;base64,{data}">')
    assert OTHER_JSON.read({"html": f'<img src="data:image/x;base64,{data}"> Anna'}).attachments == ("data",)


@pytest.mark.parametrize("member", CASES["members of the provider"])
def test_data_of_the_provider_may_be_longer(member: str) -> None:
    body = {"items": [{member: b64encode(noise(9000)).decode()}]}
    assert OTHER_JSON.read(body).attachments == ()
    document = json.dumps(body)
    assert OTHER_JSON.read({"body": document}).attachments == ()
    assert OTHER_JSON.read({"body": b64encode(document.encode()).decode()}).attachments == ()


def test_a_redacted_thought_is_data_of_the_provider() -> None:
    data = b64encode(noise(9000)).decode()
    assert OTHER_JSON.read({"content": [{"type": "redacted_thinking", "data": data}]}).attachments == ()
    assert OTHER_JSON.read({"content": [{"type": "image", "data": data}]}).attachments == ("data",)


def test_a_file_in_a_member_of_the_provider_is_a_file() -> None:
    data = b64encode(b"\x89PNG\r\n\x1a\n" + noise(900)).decode()
    assert OTHER_JSON.read({"signature": data}).attachments == ("data",)


def test_a_document_in_base64_is_searched_for_files() -> None:
    document = json.dumps({"messages": [{"image": b64encode(noise(2000)).decode()}]})
    assert is_unreadable(b64encode(document.encode()).decode())
    assert has_unreadable(document)
    assert has_unreadable(document[:-1])


def test_the_text_around_a_run_is_searched() -> None:
    """A policy that lets files pass lets no text pass unsearched."""
    said = f"anna@acme.example {b64encode(noise(900)).decode()}"
    conversation = OTHER_JSON.read({"input": said})
    assert conversation.attachments == ("data",)
    assert any("anna@acme.example" in text for text in conversation.texts())
