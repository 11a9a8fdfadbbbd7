"""Gateways on several machines share one store: keys, sessions, policies and one log from many writers."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from gateway.config.database_url import Database
from gateway.config.loading import load_settings
from gateway.config.settings import SettingsError
from gateway.container import Container
from gateway.errors import NotFound, Unauthorized
from gateway.models import Scope
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.signing import new_key
from gateway.store import open_store, store_exists
from gateway.store.rows import NewRecord
from tests import postgres
from tests.gateway.receipt_log.support import OPERATOR, draft
from tests.gateway.vault.support import ANNA, MAIL, create, reopen

KEYS: dict[str, Any] = {"installation_key": "k" * 32, "signing_key": new_key().decode()}


@pytest.fixture
async def gateways(database: Database, tmp_path: Path) -> AsyncIterator[list[Container]]:
    """Two, each with a data folder of its own, as on two machines."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                await Container.start(
                    load_settings(data_dir=tmp_path / name, database=database.url, detection="patterns", **KEYS)
                )
            )
            for name in ("one", "two")
        ]


@pytest.mark.slow
async def test_keys_sessions_and_policies_are_those_of_all(gateways: list[Container]) -> None:
    one, two = gateways
    secret, record = await one.keys.create("laptop", Scope.CLIENT)
    assert two.keys.authenticate(secret).key_id == record.key_id
    await one.keys.revoke(record.key_id)
    async with asyncio.timeout(10):
        while True:
            try:
                two.keys.authenticate(secret)
            except Unauthorized:
                break
            await asyncio.sleep(0.05)
    session = await create(one.vault, ANNA, 600)
    await one.vault.remember(session, [MAIL])
    assert (await reopen(two.vault, session)).known == (MAIL,)
    await two.vault.revoke(session.grant.session_id, session.grant.session_token, ANNA)
    with pytest.raises(NotFound):
        await reopen(one.vault, session)
    document = {"id": "acme", "title": "Acme", "extends": "default"}
    made = await one.policies.create(document)
    assert two.policies.get("acme").ref == made.ref


@pytest.mark.slow
async def test_many_writers_leave_one_log_that_verifies(gateways: list[Container]) -> None:
    async def exchange(container: Container) -> str:
        receipt = await container.receipts.append(draft(), ANNA.key_id)
        container.receipts.append_outcome(receipt.request_id, OutcomeDraft("answered", 200, (1, 2)), ANNA.key_id)
        return receipt.request_id

    ids = await asyncio.gather(*(exchange(each) for _ in range(40) for each in gateways))
    for each in gateways:
        listed, total = await each.receipts.list(OPERATOR, 100, 0)
        assert total == len(ids) == 80
        assert {receipt.request_id for receipt in listed} == set(ids)
        verification = await each.receipts.verify(ids[0], OPERATOR)
        assert verification.valid
        each.check()
    first, last = gateways[0].store.read_now(lambda stored: stored.receipts.bounds()) or (0, 0)
    assert (first, last) == (1, 160)


@pytest.mark.slow
async def test_another_instance_closes_the_exchanges_of_one_that_died(
    gateways: list[Container], server: postgres.Server, name: str
) -> None:
    one, two = gateways
    lost = await one.receipts.append(draft(), ANNA.key_id)
    kept = await two.receipts.append(draft(), ANNA.key_id)
    await two.interrupted._close_ended()
    assert {each.outcome for each in (await two.receipts.list(OPERATOR, 9, 0))[0]} == {None}, "both still write"
    server.sql(f"UPDATE instances SET seen_at = now() - interval '61 s' WHERE first = {lost.record.sequence}", name)
    await two.interrupted._close_ended()
    found = {each.request_id: each.as_dict().get("outcome") for each in (await two.receipts.list(OPERATOR, 9, 0))[0]}
    assert (found[lost.request_id] or {})["outcome"] == "interrupted"
    assert found[kept.request_id] is None
    assert server.sql("SELECT first FROM instances", name) == [(kept.record.sequence,)]
    assert (await two.receipts.verify(lost.request_id, OPERATOR)).valid


async def test_an_instance_says_that_it_is_there_and_that_it_ends(
    database: Database, server: postgres.Server, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.postgres.store._RENEW_SECONDS", 0.05)
    store = open_store(tmp_path, database)
    record = NewRecord(1, "receipt", "req_1", "key_1", "{}", "", "")
    await store.write(lambda stored: stored.receipts.add([record]))
    server.sql("UPDATE instances SET seen_at = '-infinity'", name)
    async with asyncio.timeout(30):
        while server.sql("SELECT 1 FROM instances WHERE seen_at = '-infinity'", name):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    store.close()
    assert server.sql("SELECT first FROM instances WHERE seen_at = '-infinity'", name) == [(1,)]


@pytest.mark.slow
async def test_an_instance_without_the_keys_refuses_a_used_database(
    gateways: list[Container], database: Database, tmp_path: Path
) -> None:
    await gateways[0].receipts.append(draft(), ANNA.key_id)
    for names in ((), ("installation_key",), ("signing_key",)):
        given = {name: KEYS[name] for name in names}
        settings = load_settings(data_dir=tmp_path / "three", database=database.url, detection="patterns", **given)
        with pytest.raises(SettingsError, match="is missing from data_dir"):
            await Container.start(settings)
    other = KEYS | {"signing_key": new_key().decode()}
    settings = load_settings(data_dir=tmp_path / "three", database=database.url, detection="patterns", **other)
    with pytest.raises(SettingsError, match="signing_key is not the key"):
        await Container.start(settings)


def test_without_the_driver_the_start_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gateway.store.postgres", None)
    with pytest.raises(SettingsError, match="pip install 'psycopg"):
        store_exists(tmp_path, Database("postgresql://localhost/name"))
