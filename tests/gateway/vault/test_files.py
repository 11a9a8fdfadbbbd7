"""The files of the vault: they open nothing without a token, and what is deleted leaves them."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gateway.errors import Gone, InternalError, NotFound
from gateway.store import Store
from gateway.vault import Vault
from tests.conftest import vectors
from tests.gateway.vault.support import ANNA, BERT, MAIL, NAME, URL, Clock, create, file_bytes, reopen


async def gone(data_dir: Path, *seals: bytes) -> None:
    """Waits until the files hold none of the sealed rows."""
    for _ in range(500):
        if not any(sealed in file_bytes(data_dir) for sealed in seals):
            return
        await asyncio.sleep(0.01)
    pytest.fail("a sealed row is still in the files")


async def test_a_revoked_session_is_gone_from_the_files(vault: Vault, store: Store, data_dir: Path) -> None:
    session, other = await create(vault, ANNA, 60), await create(vault, ANNA, 60)
    for each in (session, other):
        await vault.remember(each, [MAIL])
    ((_, sealed),) = await store.read(lambda stored: stored.sessions.sealed(session.grant.session_id))
    await vault.revoke(session.grant.session_id, session.grant.session_token, ANNA)
    with pytest.raises(NotFound):
        await reopen(vault, session)
    with pytest.raises(Gone):
        await vault.remember(session, [NAME])
    assert (await reopen(vault, other)).known == (MAIL,)
    await gone(data_dir, sealed)
    assert session.grant.session_id.encode() not in file_bytes(data_dir)


async def test_the_files_hold_no_value_and_no_credential(vault: Vault, store: Store, data_dir: Path) -> None:
    session = await create(vault, ANNA, 3600)
    await vault.remember(session, [MAIL, NAME], [URL])
    await reopen(vault, session)
    while_open = file_bytes(data_dir)
    store.close()
    for files in (while_open, file_bytes(data_dir)):
        assert session.grant.session_id.encode() in files
        for secret in (b"anary", MAIL.placeholder.encode(), b"7KQ2M", b"example.com", session.placeholder_key):
            assert secret not in files
        assert session.grant.session_token.removeprefix("vst_").encode() not in files


async def test_purged_values_leave_the_files_even_sealed(
    vault: Vault, store: Store, data_dir: Path, clock: Clock
) -> None:
    session = await create(vault, ANNA, 60)
    await vault.remember(session, [MAIL])
    ((_, sealed),) = await store.read(lambda stored: stored.sessions.sealed(session.grant.session_id))
    assert sealed in file_bytes(data_dir)
    clock.now += 60
    await vault.purge()
    await gone(data_dir, sealed)


async def test_earlier_seals_of_an_extended_session_leave_the_files_too(
    vault: Vault, store: Store, data_dir: Path, clock: Clock
) -> None:
    session = await create(vault, ANNA, 60)
    await vault.remember(session, [MAIL])
    seals = []
    for ttl in (60, 120, 180):
        await vault.extend(session.grant.session_id, session.grant.session_token, ANNA, ttl)
        ((_, sealed),) = await store.read(lambda stored: stored.sessions.sealed(session.grant.session_id))
        seals.append(sealed)
    # The first extension changed nothing, so nothing was sealed again under the same key.
    assert len({sealed[:12] for sealed in seals}) == 3
    clock.now += 180
    await vault.purge()
    await gone(data_dir, *seals)


async def test_the_size_of_a_row_tells_little(vault: Vault, store: Store) -> None:
    short, longer = await create(vault, ANNA, 60), await create(vault, ANNA, 60)
    await vault.remember(short, [MAIL._replace(value="a@b.example")])
    await vault.remember(longer, [MAIL._replace(value="a.much.longer.address.than.that@b.example")])
    rows = await store.read(
        lambda stored: [stored.sessions.sealed(session.grant.session_id) for session in (short, longer)]
    )
    sizes = {len(sealed) for of_session in rows for _, sealed in of_session}
    assert len(sizes) == 1


TAMPERING = vectors("vault/tampering")


@pytest.mark.parametrize("name", TAMPERING)
async def test_changed_rows_open_to_nothing(name: str, vault: Vault, data_dir: Path) -> None:
    sessions = [await create(vault, ANNA, 60) for _ in range(2)]
    for session in sessions:
        await vault.remember(session, [MAIL])
        await vault.remember(session, [NAME])
    conn = sqlite3.connect(data_dir / "gateway.db")
    conn.executescript(TAMPERING[name])
    conn.close()
    for session in sessions:
        with pytest.raises(InternalError) as refused:
            await reopen(vault, session)
        assert "anary" not in str(refused.value)


async def test_a_session_given_to_another_key_opens_to_nothing(vault: Vault, data_dir: Path) -> None:
    session = await create(vault, ANNA, 60)
    await vault.remember(session, [MAIL])
    conn = sqlite3.connect(data_dir / "gateway.db")
    with conn:
        conn.execute("UPDATE vault_sessions SET owner = ?", [BERT.key_id])
    conn.close()
    with pytest.raises(NotFound):
        await reopen(vault, session)
    with pytest.raises(InternalError):
        await reopen(vault, session, BERT)
