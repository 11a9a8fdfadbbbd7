"""The signed head in the form of a signed note."""

from base64 import b64decode, b64encode
from hashlib import sha256

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.receipts.checkpoint import ORIGIN, sign_checkpoint, verifier_key, verify_checkpoint
from gateway.receipts.signing import Signer
from tests.gateway.receipts.verifier import check_checkpoint

ROOT_HASH = b"\xab" * 32


@pytest.fixture
def signer() -> Signer:
    return Signer(Ed25519PrivateKey.generate())


def test_a_checkpoint_is_signed_as_c2sp_says(signer: Signer) -> None:
    note = sign_checkpoint(7, ROOT_HASH, signer).note
    text, line = note.split("\n\n")
    assert text == "privacy-gateway/receipt-log\n7\n" + b64encode(ROOT_HASH).decode()
    dash, name, signature = line.removesuffix("\n").split(" ")
    assert (dash, name) == ("\u2014", "privacy-gateway/receipt-log")
    raw = b64decode(signature)
    assert raw[:4] == sha256(name.encode() + b"\n\x01" + signer.public_bytes).digest()[:4]
    signer.public_key.verify(raw[4:], (text + "\n").encode())
    name, key_hash, key = verifier_key(signer).split("+", 2)
    assert (name, key_hash, b64decode(key)) == (ORIGIN, raw[:4].hex(), b"\x01" + signer.public_bytes)


def test_a_checkpoint_is_good_for_itself_alone(signer: Signer) -> None:
    other = Signer(Ed25519PrivateKey.generate())
    signed = sign_checkpoint(7, ROOT_HASH, signer)
    assert verify_checkpoint(signed.note, signer) == signed
    assert verify_checkpoint(signed.note, other) is None
    assert verify_checkpoint(signed.note.replace("\n7\n", "\n8\n"), signer) is None
    another = b64encode(b"\xcd" * 32).decode()
    assert verify_checkpoint(signed.note.replace(b64encode(ROOT_HASH).decode(), another), signer) is None


def _broken_notes(note: str) -> dict[str, str]:
    text, line = note.split("\n\n")
    signature = line.removesuffix("\n").split(" ")[2]
    raw = b64decode(signature)
    return {
        "empty": "",
        "without signature": text + "\n\n",
        "without last newline": note.removesuffix("\n"),
        "of another name": note.replace("\u2014 privacy-gateway", "\u2014 somebody-else"),
        "not base64": note.replace(signature, "*" * len(signature)),
        "signature cut": note.replace(signature, b64encode(raw[:-1]).decode()),
        "signature longer": note.replace(signature, b64encode(raw + b"\x00").decode()),
        "of another key hash": note.replace(signature, b64encode(b"\x00" * 4 + raw[4:]).decode()),
        "one bit off": note.replace(signature, b64encode(raw[:-1] + bytes([raw[-1] ^ 1])).decode()),
        "line added": note.replace("\n\n", "\nmore\n\n"),
        "root in another spelling": note.replace("6s=\n", "6t=\n"),
        "size with a zero": note.replace("\n7\n", "\n07\n"),
        "size in other digits": note.replace("\n7\n", "\n\u0667\n"),
        "size negative": note.replace("\n7\n", "\n-7\n"),
        "two signatures": note + line,
        "carriage returns": note.replace("\n", "\r\n"),
        "another dash": note.replace("\u2014", "\u2013"),
        "not ASCII": note.replace(signature, "é"),
    }


@pytest.mark.parametrize(
    "name", _broken_notes(sign_checkpoint(7, ROOT_HASH, Signer(Ed25519PrivateKey.generate())).note)
)
def test_a_broken_note_is_no_note(name: str, signer: Signer) -> None:
    note = sign_checkpoint(7, ROOT_HASH, signer).note
    assert verify_checkpoint(_broken_notes(note)[name], signer) is None
    with pytest.raises((AssertionError, ValueError, InvalidSignature)):
        check_checkpoint(_broken_notes(note)[name], [signer.public_key])
