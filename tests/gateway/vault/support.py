"""Callers, values and a clock that the tests of the vault set."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gateway.models import Caller, Scope
from gateway.placeholders import Known
from gateway.vault import OpenSession, Vault

ANNA = Caller("key_anna", Scope.CLIENT)
BERT = Caller("key_bert", Scope.OPERATOR)
NOW = datetime(2030, 1, 1, tzinfo=UTC)

MAIL = Known("[EMAIL_ADDRESS_7KQ2M]", "EMAIL_ADDRESS", "canary-value@example.com", None)
NAME = Known("[PERSON_ABCDE]", "PERSON", "Canary Värdé \ud83d\ude00 \x00 \ud800", "Canary \\u0056")
URL = "https://example.com/?q=[EMAIL_ADDRESS_7KQ2M]"


class Clock:
    def __init__(self) -> None:
        self.now = NOW.timestamp()

    def __call__(self) -> float:
        return self.now


async def create(vault: Vault, caller: Caller, ttl_seconds: int, *, max_values: int = 10_000) -> OpenSession:
    """A session that is empty and stored."""
    session = vault.begin(caller, ttl_seconds, max_values=max_values)
    await vault.remember(session, ())
    return replace(session, row=None)


async def reopen(vault: Vault, session: OpenSession, caller: Caller = ANNA) -> OpenSession:
    return await vault.open(session.grant.session_id, session.grant.session_token, caller)


def file_bytes(data_dir: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(data_dir.iterdir()))
