"""`sessions revoke`, through the entry point."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from gateway.errors import NotFound
from gateway.store import open_store
from gateway.vault import OpenSession, Vault
from tests.gateway.cli.support import Command
from tests.gateway.vault.support import ANNA, MAIL, create, file_bytes, reopen


async def made(data_dir: Path) -> tuple[OpenSession, OpenSession, bytes]:
    """Two sessions with a value each, and what is sealed in the first."""
    with closing(open_store(data_dir)) as store:
        vault = Vault(store)
        first, other = [await create(vault, ANNA, 3600) for _ in range(2)]
        for session in (first, other):
            await vault.remember(session, [MAIL])
        ((_, sealed),) = await store.read(lambda stored: stored.sessions.sealed(first.grant.session_id))
        return first, other, sealed


async def opened(data_dir: Path, session: OpenSession) -> OpenSession:
    with closing(open_store(data_dir)) as store:
        return await reopen(Vault(store), session)


def test_a_session_is_revoked_without_its_token(command: Command, data_dir: Path) -> None:
    first, other, sealed = asyncio.run(made(data_dir))
    session_id = first.grant.session_id
    assert sealed in file_bytes(data_dir)
    assert command.json("sessions", "revoke", session_id) == (0, {"session_id": session_id, "revoked": True})
    assert sealed not in file_bytes(data_dir)
    with pytest.raises(NotFound):
        asyncio.run(opened(data_dir, first))
    assert asyncio.run(opened(data_dir, other)).known == (MAIL,)
    status, answer = command.json("sessions", "revoke", session_id)
    assert (status, answer["error"]["code"]) == (1, "session_not_found")
    assert command("sessions", "revoke", other.grant.session_id) == (0, "The session and its values are deleted.\n")
