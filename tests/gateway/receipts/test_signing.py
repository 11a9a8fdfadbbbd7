"""The signing key's file, and the signed head in the form of a signed note."""

import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from gateway.config.settings import SettingsError
from gateway.receipt_log.signing_key import FILE, load_signer
from gateway.receipts import Signer
from gateway.receipts.checkpoint import ORIGIN, sign_checkpoint, verifier_key, verify_checkpoint
from tests.conftest import ROOT
from tests.gateway.receipts.verifier import check_checkpoint

ROOT_HASH = b"\xab" * 32


def test_the_first_start_makes_a_key_that_only_its_owner_reads(data_dir: Path) -> None:
    first = load_signer(data_dir)
    assert [file.name for file in data_dir.iterdir()] == [FILE]
    assert (data_dir / FILE).stat().st_mode & 0o777 == 0o600
    again = load_signer(data_dir)
    assert again.key_id == first.key_id
    assert first.verify(again.sign(b"message"), b"message")


def test_the_key_id_is_a_digest_of_the_public_key(data_dir: Path) -> None:
    signer = load_signer(data_dir)
    raw = signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    assert signer.key_id == "key_" + sha256(raw).hexdigest()[:16]


def test_threads_that_start_at_once_get_one_key(data_dir: Path) -> None:
    found: list[str] = []
    start = threading.Barrier(8)

    def load() -> None:
        start.wait()
        found.append(load_signer(data_dir).key_id)

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [file.name for file in data_dir.iterdir()] == [FILE]


@pytest.mark.slow
def test_processes_that_start_at_once_get_one_key(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gateway.receipt_log.signing_key import load_signer; "
        "print(load_signer(Path(sys.argv[1])).key_id)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "data")]
    started = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0].strip() for process in started]
    assert said == [load_signer(tmp_path / "data").key_id] * 2


def _pem(key: "Ed25519PrivateKey | X25519PrivateKey") -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00" * 32, b"-----BEGIN", _pem(X25519PrivateKey.generate()), _pem(Ed25519PrivateKey.generate())[:-40]],
    ids=["empty", "not PEM", "cut", "another kind of key", "half a key"],
)
def test_a_damaged_key_is_refused_and_left_as_it_is(data_dir: Path, content: bytes) -> None:
    (data_dir / FILE).write_bytes(content)
    with pytest.raises(SettingsError, match=FILE):
        load_signer(data_dir)
    assert (data_dir / FILE).read_bytes() == content


def test_the_key_is_in_no_repr(data_dir: Path) -> None:
    signer = load_signer(data_dir)
    assert repr(signer) == f"<Signer {signer.key_id}>"


def test_a_checkpoint_is_signed_as_c2sp_says(data_dir: Path) -> None:
    signer = load_signer(data_dir)
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


def test_a_checkpoint_is_good_for_itself_alone(data_dir: Path) -> None:
    signer, other = load_signer(data_dir), Signer(Ed25519PrivateKey.generate())
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
def test_a_broken_note_is_no_note(name: str, data_dir: Path) -> None:
    signer = load_signer(data_dir)
    note = sign_checkpoint(7, ROOT_HASH, signer).note
    assert verify_checkpoint(_broken_notes(note)[name], signer) is None
    with pytest.raises((AssertionError, ValueError, InvalidSignature)):
        check_checkpoint(_broken_notes(note)[name], [signer.public_key])
