"""The vault: only the right caller with the right token in time opens a session."""

import asyncio
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.errors import Conflict, GatewayError, Gone, NotFound
from gateway.store import Store, open_store
from gateway.vault import TOMBSTONE, Vault
from tests.gateway.vault.support import ANNA, BERT, MAIL, NAME, NOW, URL, Clock, create, reopen


async def test_remembered_values_come_back_once_and_in_order(vault: Vault) -> None:
    session = await create(vault, ANNA, 3600)
    assert (session.known, session.urls, session.owner) == ((), frozenset(), ANNA.key_id)
    assert session.grant.expires_at == NOW + timedelta(hours=1)
    await vault.remember(session, [], [])
    assert (await reopen(vault, session)).known == ()
    await asyncio.gather(*(vault.remember(session, [MAIL]) for _ in range(5)))
    await vault.remember(session, [NAME], [URL])
    again = await reopen(vault, session)
    assert again == replace(session, known=(MAIL, NAME), urls=frozenset({URL}), rows=6)
    text = repr(again) + repr(vault)
    assert session.grant.session_token not in text
    assert "anary" not in text


async def test_each_session_has_keys_of_its_own(vault: Vault) -> None:
    one, other = await create(vault, ANNA, 60), await create(vault, ANNA, 60)
    assert len(one.placeholder_key) == 32
    assert one.placeholder_key != other.placeholder_key
    assert one.grant.session_id != other.grant.session_id
    assert one.grant.session_id.startswith("vs_")
    assert one.grant.session_token.startswith("vst_")
    # 256 bits in unpadded base64.
    assert len(one.grant.session_token) == len("vst_") + 43


async def test_wrong_id_token_and_owner_look_the_same(vault: Vault) -> None:
    session, other = await create(vault, ANNA, 60), await create(vault, ANNA, 60)
    id, token = session.grant.session_id, session.grant.session_token
    said = set()
    for asked in (
        ("vs_" + "0" * 32, token, ANNA),
        ("", token, ANNA),
        ("vs_\ud800", token, ANNA),
        ("vs_' OR 1=1 --", token, ANNA),
        (id.upper(), token, ANNA),
        (id, "", ANNA),
        (id, "\ud800", ANNA),
        (id, token[:-1], ANNA),
        (id, other.grant.session_token, ANNA),
        (other.grant.session_id, token, ANNA),
        (id, token, BERT),
    ):
        with pytest.raises(NotFound) as refused:
            await vault.open(*asked)
        said.add((refused.value.code, refused.value.message, refused.value.param))
    assert len(said) == 1
    assert said.pop()[0] == "session_not_found"
    assert await reopen(vault, session) == session


async def test_expiry_is_reported_only_with_the_token(vault: Vault, clock: Clock) -> None:
    session = await create(vault, ANNA, 60)
    clock.now += 59.9
    await reopen(vault, session)
    clock.now += 0.1
    with pytest.raises(Gone) as refused:
        await reopen(vault, session)
    assert refused.value.code == "session_expired"
    with pytest.raises(NotFound):
        await reopen(vault, session, BERT)
    with pytest.raises(NotFound):
        await vault.open(session.grant.session_id, "vst_wrong", ANNA)
    with pytest.raises(Gone):
        await vault.remember(session, [MAIL])


async def test_a_clock_set_back_opens_nothing_again(vault: Vault, store: Store, clock: Clock) -> None:
    session = await create(vault, ANNA, 60)
    await vault.remember(session, [MAIL])
    clock.now += 60
    with pytest.raises(Gone):
        await reopen(vault, session)
    await vault.purge()
    for back in (1, 30, 3600, 10 * 365 * 86_400):
        clock.now = NOW.timestamp() - back
        for each in (vault, Vault(store, clock=clock)):
            for use in (
                reopen(each, session),
                each.remember(session, [NAME]),
                each.extend(session.grant.session_id, session.grant.session_token, ANNA, 60),
            ):
                with pytest.raises(Gone):
                    await use


async def test_a_start_with_the_clock_set_back_continues_from_the_latest_time(
    vault: Vault, store: Store, clock: Clock
) -> None:
    """Written with the last session, without a purge; a session that lasts still opens, and a new one can be made."""
    session, longer = await create(vault, ANNA, 60), await create(vault, ANNA, 3600)
    clock.now += 60
    await vault.remember(longer, [MAIL])
    clock.now -= 86_400
    again = Vault(store, clock=clock)
    with pytest.raises(Gone):
        await reopen(again, session)
    assert (await reopen(again, longer)).known == (MAIL,)
    new = await create(again, ANNA, 60)
    assert new.grant.expires_at >= NOW + timedelta(seconds=120)
    assert (await reopen(again, new)).known == ()


async def test_an_extended_session_lasts_longer_and_keeps_its_values(vault: Vault, clock: Clock) -> None:
    session = await create(vault, ANNA, 60)
    await vault.remember(session, [MAIL], [URL])
    await vault.remember(await reopen(vault, session), [NAME])
    credentials = session.grant.session_id, session.grant.session_token
    clock.now += 30
    grant = await vault.extend(*credentials, ANNA, 60)
    assert grant.expires_at == NOW + timedelta(seconds=90)
    assert (await vault.extend(*credentials, ANNA, 10)).expires_at == grant.expires_at, "never earlier"
    clock.now += 59
    again = await reopen(vault, session)
    assert (again.known, again.urls, again.grant) == ((MAIL, NAME), frozenset({URL}), grant)
    with pytest.raises(Conflict):
        # It was opened before the session was extended, and would seal for its old end.
        await vault.remember(session, [MAIL._replace(placeholder="[EMAIL_ADDRESS_ABCDE]")])
    clock.now += 1
    with pytest.raises(Gone):
        await reopen(vault, session)
    for wrong in ((credentials[0], "vst_wrong", ANNA), (*credentials, BERT), ("vs_" + "0" * 32, credentials[1], ANNA)):
        with pytest.raises(NotFound):
            await vault.extend(*wrong, 60)
        with pytest.raises(NotFound):
            await vault.revoke(*wrong)


async def test_an_expired_session_is_reported_for_a_day(vault: Vault, clock: Clock) -> None:
    sessions = await asyncio.gather(*(create(vault, ANNA, 60) for _ in range(1200)))
    session, longer = sessions[0], await create(vault, ANNA, 7 * 86_400)
    await vault.remember(session, [MAIL])
    await vault.remember(longer, [NAME])
    assert await vault.purge() == 0
    clock.now += 60
    assert await vault.purge() == 1200
    assert await vault.purge() == 0
    with pytest.raises(Gone):
        await reopen(vault, session)
    assert (await reopen(vault, longer)).known == (NAME,)
    clock.now += TOMBSTONE.total_seconds() - 1
    assert await vault.purge() == 0
    with pytest.raises(Gone):
        await reopen(vault, session)
    clock.now += 1
    await vault.purge()
    with pytest.raises(NotFound):
        await reopen(vault, session)


async def test_a_session_holds_so_many_values_and_no_more(vault: Vault) -> None:
    session = await create(vault, ANNA, 60, max_values=3)
    await vault.remember(session, [MAIL], [URL])
    with pytest.raises(Conflict):
        await vault.remember(session, [NAME, NAME])
    await vault.remember(session, [NAME])
    with pytest.raises(Conflict):
        await vault.remember(session, [], ["https://example.com/[PERSON_ABCDE]"])
    again = await reopen(vault, session)
    assert (again.known, again.urls) == ((MAIL, NAME), frozenset({URL}))
    # Values that the session had when it was opened are not charged again.
    await vault.remember(again, [], [URL])


async def test_two_stores_on_one_file_remember_together(vault: Vault, data_dir: Path, clock: Clock) -> None:
    with closing(open_store(data_dir)) as other_store:
        other = Vault(other_store, clock=clock)
        session = await create(vault, ANNA, 60)
        values = [MAIL._replace(placeholder=f"[EMAIL_ADDRESS_{number:05}]") for number in range(20)]
        await asyncio.gather(
            *((vault if number % 2 else other).remember(session, [value]) for number, value in enumerate(values))
        )
        assert set((await reopen(other, session)).known) == set(values)
        # The time that one of them noted counts for both.
        ahead = Clock()
        ahead.now += 61
        await create(Vault(other_store, clock=ahead), BERT, 60)
    with pytest.raises(Gone):
        await reopen(vault, session)


async def test_two_at_once_never_give_one_placeholder_to_two_values(vault: Vault) -> None:
    session = await create(vault, ANNA, 60)
    await vault.remember(session, [NAME])
    first, second = await reopen(vault, session), await reopen(vault, session)
    await vault.remember(first, [MAIL])
    with pytest.raises(Conflict, match="again"):
        await vault.remember(second, [MAIL._replace(value="another-value@example.com")])
    # The same value is no harm, nor is another placeholder; and who asks again sees what is there.
    await vault.remember(
        second, [MAIL, MAIL._replace(placeholder="[EMAIL_ADDRESS_7KQ2M9]", value="another-value@x.de")]
    )
    assert [entry.value for entry in (await reopen(vault, session)).known] == [
        NAME.value,
        MAIL.value,
        "another-value@x.de",
    ]


@pytest.mark.parametrize(("ttl", "most"), [(0, 1), (-1, 1), (60, 0)])
async def test_a_session_needs_time_room_and_a_store(vault: Vault, store: Store, ttl: int, most: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        await create(vault, ANNA, ttl, max_values=most)
    session = await create(vault, ANNA, 60)
    store.close()
    with pytest.raises(GatewayError):
        await reopen(vault, session)
