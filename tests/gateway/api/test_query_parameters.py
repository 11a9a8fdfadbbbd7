"""Lists and meters take the same filter, and refuse what is no filter in the same words. Clients see their own."""

from typing import Any

import httpx
import pytest

from gateway.container import Container
from gateway.errors import Unprocessable
from gateway.models import Scope
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.filters import Filter
from gateway.store.rows import KeyCallRow
from tests.gateway.api.conftest import KEY
from tests.gateway.receipt_log.support import draft

PLACES = ("/v1/receipts", "/v1/usage", "/v1/keys/audit")


@pytest.fixture(scope="module")
async def secret(container: Container) -> str:
    """The secret of a client with the label `laptop`, whose receipt is a refused one; another key has two."""
    secret, record = await container.keys.create("laptop", Scope.CLIENT)
    for owner, operation in ((record.key_id, "chat"), ("key_other", "chat"), ("key_other", "protect")):
        made = draft(operation=operation, entity_counts={"URL": 1, "CASE_NUMBER": 2})
        await container.receipts.append(made, owner)
        if owner == record.key_id:
            container.receipts.append_outcome(made.request_id, OutcomeDraft("refused", code="conflict"), owner)
    return secret


async def get(client: httpx.AsyncClient, path: str, query: str, key: str = KEY) -> httpx.Response:
    return await client.get(f"{path}?{query}", headers={"authorization": f"Bearer {key}"})


@pytest.mark.parametrize(
    ("query", "all_keys", "own"),
    [
        ("", 3, 1),
        ("operation=chat", 2, 1),
        ("operation=chat&operation=protect", 3, 1),
        ("outcome=refused", 1, 1),
        ("key=key_other", 2, 0),
        ("key=laptop&key=key_other", 3, 1),
        ("type=CASE_NUMBER&policy=default&since=1h", 3, 1),
        ("type=PERSON", 0, 0),
        ("until=2026-01-01", 0, 0),
        ("model=gpt-4o", 0, 0),
    ],
)
async def test_a_filter(client: httpx.AsyncClient, secret: str, query: str, all_keys: int, own: int) -> None:
    for key, total in ((KEY, all_keys), (secret, own)):
        page = (await get(client, "/v1/receipts", f"{query}&limit=1", key)).json()
        assert (page["total"], len(page["data"])) == (total, min(total, 1))
    assert (await get(client, "/v1/usage", query)).json()["total_operations"] == all_keys
    assert (await get(client, "/v1/usage", query, secret)).status_code == 403


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("outcome=refused&outcome=lost", "outcome"),
        ("operation=", "operation"),
        ("since=soon", "since"),
        ("since=1h&since=2h", "since"),
        ("since=1h&until=2h", "until"),
        ("type=SHOE_SIZE", "type"),
        ("type=anna", "type"),
        ("shoe=9", "shoe"),
    ],
)
async def test_what_is_no_filter(client: httpx.AsyncClient, secret: str, path: str, query: str, param: str) -> None:
    reply = await get(client, path, query)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["param"]) == (422, "validation_error", param)
    assert not any(value in error["message"] for value in ("lost", "soon", "SHOE_SIZE", "anna", "9"))
    given: dict[str, Any] = dict(pair.split("=") for pair in query.split("&"))
    given |= {name: (value,) for name, value in given.items() if name not in ("since", "until")}
    if query.count(param) == 1 and param not in ("shoe", "type"):
        # A command says the same.
        with pytest.raises(Unprocessable) as refused:
            Filter.of(given)
        assert refused.value.message == error["message"]


@pytest.mark.parametrize(
    ("query", "calls"),
    [
        ("operation=chat&until=2026-03-01", ["chat-completions"]),
        ("outcome=refused&until=2026-03-01", ["protect"]),
        ("key=key_other&since=2026-02-01&until=2026-02-01", ["chat-completions", "protect"]),
        ("type=CASE_NUMBER&operation=chat&outcome=refused", ["chat"]),
        ("policy=strict", []),
    ],
)
async def test_a_filter_of_the_audit(
    client: httpx.AsyncClient, container: Container, secret: str, query: str, calls: list[str]
) -> None:
    """Entries by policy, type or model come from receipts."""
    rows = [
        KeyCallRow("2026-02-01T03:05Z", "key_other", "chat-completions", "forwarded", 1),
        KeyCallRow("2026-02-01T03:04Z", "key_other", "protect", "conflict", 1),
    ]
    await container.store.write(lambda stored: stored.keys.count_calls(rows))
    page = (await get(client, "/v1/keys/audit", query)).json()
    assert ([use["call"] for use in page["data"]], page["total"]) == (calls, len(calls))


async def test_a_client_does_not_learn_which_types_there_are(client: httpx.AsyncClient, secret: str) -> None:
    assert (await get(client, "/v1/receipts", "type=SHOE_SIZE", secret)).json()["total"] == 0
    operator = (await get(client, "/v1/receipts", "type=SHOE_SIZE")).json()["error"]
    assert "one of those found here, CASE_NUMBER, URL, or" in operator["message"]
