"""The signing key with which a store is opened: never a new one if another has signed its records."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from gateway.config.installation_key import FILE as INSTALLATION_KEY
from gateway.config.loading import load_settings
from gateway.config.settings import SettingsError
from gateway.container import Container
from gateway.exchange.operations import Question
from gateway.models import Caller, Scope
from gateway.receipt_log.signing_key import FILE, load_signer
from gateway.receipts.checkpoint import is_signed_by_another, sign_checkpoint
from tests.gateway.receipt_log.support import sql

ANNA = Caller("key_anna", Scope.CLIENT)


@pytest.fixture
async def used(data_dir: Path) -> Path:
    """A data folder in which something was recorded."""
    async with await Container.start(load_settings(None, data_dir=data_dir, detection="patterns")) as container:
        await container.operations.protect(Question("Write to anna@acme.test"), ANNA)
    return data_dir


async def refusal(data_dir: Path) -> str:
    with pytest.raises(SettingsError) as refused:
        await Container.start(load_settings(None, data_dir=data_dir, detection="patterns"))
    (problem,) = refused.value.problems
    return problem


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize("name", [FILE, INSTALLATION_KEY])
async def test_no_key_is_made_beside_receipts_or_their_head(name: str, rows: bool, used: Path) -> None:
    if not rows:
        sql(used, "DELETE FROM receipts")
    (used / name).unlink()
    problem = await refusal(used)
    assert problem.startswith(f"{name} is missing from data_dir")
    assert "restore it from the backup" in problem
    assert "--data-dir" in problem
    assert not (used / name).exists()


async def test_another_key_beside_receipts_is_refused(used: Path) -> None:
    (used / FILE).unlink()
    another = load_signer(used).key_id
    assert (await refusal(used)).startswith(f"{FILE} in data_dir is not the key")
    assert load_signer(used).key_id == another, "it is left as it is"


async def test_a_folder_with_its_keys_and_one_without_receipts_start(used: Path, tmp_path: Path) -> None:
    for folder in (used, tmp_path / "new", tmp_path / "new"):
        async with await Container.start(load_settings(None, data_dir=folder, detection="patterns")):
            assert (folder / FILE).exists()
    (tmp_path / "new" / FILE).unlink()
    async with await Container.start(load_settings(None, data_dir=tmp_path / "new", detection="patterns")):
        assert (tmp_path / "new" / FILE).exists(), "nothing was signed with the first"


def test_a_head_that_another_key_signed_is_recognized(tmp_path: Path) -> None:
    ours, theirs = load_signer(tmp_path / "ours"), load_signer(tmp_path / "theirs")
    note = sign_checkpoint(7, bytes(32), ours).note
    assert not is_signed_by_another(note, ours)
    assert is_signed_by_another(note, theirs)
    for damaged in ("", "nonsense", note[:-9] + "\n", note.replace("\u2014", "-"), note[:-6] + "?!é=\n"):
        assert not is_signed_by_another(damaged, theirs), "damage is for verification to tell"


async def test_the_key_may_come_from_the_settings(tmp_path: Path) -> None:
    ours, theirs = ((tmp_path / name / FILE, load_signer(tmp_path / name)) for name in ("ours", "theirs"))
    settings = load_settings(
        data_dir=tmp_path / "data", detection="patterns", signing_key=f"file:{ours[0]}", installation_key="k" * 32
    )
    for _ in range(2):
        async with await Container.start(settings) as container:
            done = await container.operations.protect(Question("Write to anna@acme.test"), ANNA)
            assert done.receipt.as_dict()["key_id"] == ours[1].key_id
    assert not list((tmp_path / "data").glob("*.key"))
    for reference, said in ((f"file:{theirs[0]}", "signing_key is not the key"), ("no PEM", "signing_key: it must be")):
        key = load_settings(signing_key=reference).signing_key
        with pytest.raises(SettingsError, match=said):
            await Container.start(settings.model_copy(update={"signing_key": key}))
    with pytest.raises(SettingsError, match=f"{FILE} is missing"):
        await Container.start(settings.model_copy(update={"signing_key": None}))


def test_the_first_start_makes_a_key_that_only_its_owner_reads(data_dir: Path) -> None:
    first = load_signer(data_dir)
    assert [file.name for file in data_dir.iterdir()] == [FILE]
    assert (data_dir / FILE).stat().st_mode & 0o777 == 0o600
    again = load_signer(data_dir)
    assert again.key_id == first.key_id
    assert first.verify(again.sign(b"message"), b"message")


def test_the_key_id_is_a_digest_of_the_public_key_and_all_that_is_shown(data_dir: Path) -> None:
    signer = load_signer(data_dir)
    raw = signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    assert signer.key_id == "key_" + sha256(raw).hexdigest()[:16]
    assert repr(signer) == f"<Signer {signer.key_id}>"


def test_all_that_start_at_once_get_one_key(data_dir: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: load_signer(data_dir).key_id, range(32)))) == 1
    assert [file.name for file in data_dir.iterdir()] == [FILE]


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
