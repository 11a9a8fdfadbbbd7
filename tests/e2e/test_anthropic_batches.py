"""Message Batches with Anthropic's own SDK through both listeners, with a restart before the results are fetched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trustme

from tests.e2e.api_keys import new_key
from tests.e2e.batch_provider import AnthropicBatches
from tests.e2e.conftest import Gateways
from tests.e2e.entrances import CARD, MAIL, Entrance
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, Running, gateway
from tests.e2e.upstream import Upstream
from tests.lazy import Lazy

anthropic = Lazy("anthropic")

SAID = (f"I am {MAIL}.", f"My card is {CARD}, and I am {MAIL}.", "Nothing private.")


def settings(upstream: Upstream) -> str:
    return f'[upstreams.claude]\nwire = "anthropic"\nbase_url = "{upstream.url}"\nmodels = ["claude-*"]\n'


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Running:
    return gateways(config=settings(_plain), web=True)


def requests(*said: str, names: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    names = names or tuple(f"line-{number}" for number in range(len(said)))
    params = [{"model": "claude-x", "max_tokens": 99, "messages": [{"role": "user", "content": text}]} for text in said]
    return [{"custom_id": name, "params": each} for name, each in zip(names, params, strict=True)]


@contextmanager
def sdk(entrance: Entrance) -> Iterator[Any]:
    with entrance.connection(httpx2) as http:
        yield anthropic.Anthropic(api_key=entrance.key, base_url=entrance.url, http_client=http, max_retries=0)


def answers(client: Any, name: str) -> dict[str, str]:
    found = {}
    for line in client.messages.batches.results(name):
        result = line.result
        succeeded = result.type == "succeeded"
        found[line.custom_id] = result.message.content[0].text if succeeded else result.error.error.message
    return found


def test_a_batch_is_protected_and_its_results_restored(entrance: Entrance) -> None:
    entrance.upstream.answer = AnthropicBatches(entrance.upstream.url)
    given = requests(*SAID, f"Refuse {CARD}.", names=("one", "anna_schmidt--4111111111111111", "three", "four"))
    given[3]["params"]["max_tokens"] = 13
    with sdk(entrance) as client:
        batch = client.messages.batches.create(requests=given)
        assert client.messages.batches.retrieve(batch.id).processing_status == "ended"
        assert [each.id for each in client.messages.batches.list()] == [batch.id]
        found = answers(client, batch.id)
        assert client.messages.batches.cancel(batch.id).id == batch.id
        assert client.messages.batches.delete(batch.id).id == batch.id
        # Without its values, a batch is another's.
        if entrance.name == "gateway":
            with pytest.raises(anthropic.BadRequestError):
                answers(client, batch.id)
        else:
            assert CARD not in str(answers(client, batch.id))
    assert found == dict(zip([each["custom_id"] for each in given], (*SAID, f"Refuse {CARD}."), strict=True))
    assert entrance.hides
    assert b"4111111111111111" not in entrance.crossed
    assert OPERATOR_KEY.encode() not in entrance.crossed
    with operator(entrance.running) as web:
        shown = everything(web)
    assert batch.id.encode() in shown
    assert not any(value.encode() in shown for value in (MAIL, CARD, "4111111111111111"))
    # Equal values have equal placeholders in all requests.
    sent = [each["params"]["messages"][0]["content"] for each in entrance.upstream.recorded[0].json["requests"]]
    assert sent[1].endswith(sent[0].removeprefix("I am"))


def test_receipts_count_all_requests(served: Running, upstream: Upstream) -> None:
    upstream.answer = AnthropicBatches(upstream.url)
    with served.client() as client:
        answer = client.post("/v1/messages/batches", json={"requests": requests(*SAID)})
        name, receipt = answer.json()["id"], answer.json()["svc"]["receipt"]
        assert receipt["entity_counts"] == {"CREDIT_CARD": 1, "EMAIL_ADDRESS": 2}
        assert answer.json()["results_url"] == f"/v1/messages/batches/{name}/results"
        results = client.get(f"/v1/messages/batches/{name}/results")
        outcome = client.get(f"/v1/receipts/{results.headers['x-svc-request-id']}").json()["outcome"]
    assert results.text.count(MAIL) == 2
    assert outcome["outcome"] == "answered"
    assert outcome["tokens"] == {"input": 15, "output": 9}


def test_results_after_a_restart_for_no_other_key(tmp_path: Path, upstream: Upstream, authority: trustme.CA) -> None:
    upstream.answer = AnthropicBatches(upstream.url)
    (tmp_path / "svc.toml").write_text(settings(upstream))
    with gateway(tmp_path, "--config", str(tmp_path / "svc.toml")) as running:
        other = new_key(running, "other")
        with running.client() as client:
            name = client.post("/v1/messages/batches", json={"requests": requests(*SAID)}).json()["id"]
    for file in [*running.data.iterdir(), running.log]:
        assert MAIL.encode() not in file.read_bytes()
        assert CARD.encode() not in file.read_bytes()
    with gateway(tmp_path, "--config", str(tmp_path / "svc.toml")) as running:
        with running.client(other) as client:
            for path in (f"/{name}", f"/{name}/results"):
                assert client.get(f"/v1/messages/batches{path}").status_code == 400
            assert client.get("/v1/messages/batches").json()["data"] == []
        with running.client() as client:
            assert client.get(f"/v1/messages/batches/{name}/results").text.count(MAIL) == 2
    assert MAIL not in running.log.read_text()
