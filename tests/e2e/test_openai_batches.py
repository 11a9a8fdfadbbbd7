"""Files and batches with OpenAI's own SDK through both listeners, with a restart before the results are fetched."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.api_keys import new_key
from tests.e2e.batch_provider import OpenAIBatches
from tests.e2e.conftest import Gateways
from tests.e2e.entrances import CARD, MAIL, Entrance
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import Running, gateway
from tests.e2e.upstream import Upstream
from tests.lazy import Lazy

openai = Lazy("openai")

SAID = (f"I am {MAIL}.", f"My card is {CARD}, and I am {MAIL}.", "Nothing private.")


@pytest.fixture(scope="module")
def served(gateways: Gateways) -> Running:
    return gateways(*gateways.with_upstream, web=True, upstream_key="upstream-key-of-the-tests")


@pytest.fixture
def client(entrance: Entrance) -> Iterator[Any]:
    entrance.upstream.answer = OpenAIBatches()
    with entrance.connection(httpx2) as http:
        yield openai.OpenAI(
            api_key=entrance.key, base_url=f"{entrance.url}/v1", http_client=http, max_retries=0, timeout=120
        )


def line(said: str, name: str = "one", **body: Any) -> bytes:
    given = {"model": "gpt-x", "messages": [{"role": "user", "content": said}], **body}
    return json.dumps({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": given}).encode()


def upload(client: Any, *lines: bytes, name: str = "requests.jsonl", **more: Any) -> Any:
    return client.files.create(file=(name, b"\n".join(lines)), purpose="batch", **more)


def read(content: Any) -> dict[str, str]:
    found = {}
    for one in map(json.loads, content.text.splitlines()):
        body = one["response"]["body"]
        said = body["error"] if "error" in body else body["choices"][0]["message"]
        found[one["custom_id"]] = said["message" if "error" in body else "content"]
    return found


def test_a_file_is_protected_and_its_results_restored(client: Any, entrance: Entrance) -> None:
    given = [line(text, f"line-{number}") for number, text in enumerate(SAID)]
    given += [line(f"Refuse {CARD}.", f"{MAIL}-13", n=13), b""]
    file = upload(client, *given, name=f"{MAIL}.jsonl")
    assert file.filename == f"{MAIL}.jsonl"
    batch = client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"who": f"of {MAIL}", "card": CARD},
    )
    assert batch.metadata == {"who": f"of {MAIL}", "card": CARD}
    batch = client.batches.retrieve(batch.id)
    assert read(client.files.content(batch.output_file_id)) == {f"line-{n}": text for n, text in enumerate(SAID)}
    assert read(client.files.content(batch.error_file_id)) == {f"{MAIL}-13": f"No: Refuse {CARD}."}
    assert [each.metadata for each in client.batches.list()] == [batch.metadata]
    assert len([*client.files.list()]) == 3
    assert client.files.retrieve(file.id).filename == f"{MAIL}.jsonl"
    assert client.files.content(file.id).text.count(MAIL) == 3
    assert client.batches.cancel(batch.id).id == batch.id
    assert client.files.delete(file.id).deleted
    # The values of the batch stay until its results are deleted.
    assert read(client.files.content(batch.output_file_id))["line-0"] == SAID[0]
    assert client.files.delete(batch.output_file_id).deleted
    if entrance.name == "gateway":
        with pytest.raises(openai.NotFoundError):
            client.files.content(batch.output_file_id)
    else:
        assert MAIL not in client.files.content(batch.output_file_id).text
    with operator(entrance.running) as web:
        shown = everything(web)
    assert file.id.encode() in shown
    for seen in (shown, entrance.crossed):
        assert not any(value.encode() in seen for value in (MAIL, CARD))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([line("a"), b'{"custom_id": "b"}'], "Line 2: It must be an object"),
        ([line("a"), b"4111 1111 1111 1111"], "Line 2: The body is not valid JSON"),
        ([b"", b""], "no requests"),
        ([line("a").replace(b"/v1/chat", b"/v1/4111111111111111")], "Line 1: `url`"),
        ([line("a", svc_policy="none")], "Line 1: It has a field of the gateway"),
    ],
)
def test_what_is_refused(client: Any, entrance: Entrance, given: list[bytes], said: str) -> None:
    with pytest.raises(openai.APIStatusError) as refused:
        upload(client, *given)
    assert said in refused.value.message
    assert "4111" not in refused.value.message
    assert not entrance.upstream.recorded


def test_forms(client: Any, entrance: Entrance) -> None:
    for purpose in ("assistants", "fine-tune", "vision"):
        with pytest.raises(openai.BadRequestError, match="Only files with the purpose `batch`"):
            client.files.create(file=("a.jsonl", line(MAIL)), purpose=purpose)
    with pytest.raises(openai.PermissionDeniedError, match="`max_ttl_seconds`"):
        upload(client, line(MAIL), extra_body={"svc_policy": "strict"})
    with pytest.raises(openai.NotFoundError, match="no such batch or file"):
        client.batches.create(input_file_id="file-x", endpoint="/v1/responses", completion_window="24h")
    for job, said in (
        (
            {"requests": [{"custom_id": "a", "body": {"messages": [{"role": "user", "content": MAIL}]}}]},
            "`requests` inside",
        ),
        ({"input_files": ["a", "b"]}, "`input_files` must name one file"),
        ({}, "`input_file_id` must name one file"),
    ):
        with pytest.raises(openai.BadRequestError, match=said):
            client.post("/batch/jobs", cast_to=object, body={"model": "m", "endpoint": "/v1/chat/completions", **job})
    assert not entrance.upstream.recorded
    upload(client, line(MAIL), expires_after={"anchor": "created_at", "seconds": 86400})
    assert b'name="expires_after[seconds]"\r\n\r\n86400\r\n' in entrance.crossed


def test_results_after_a_restart_for_no_other_key(tmp_path: Path, upstream: Upstream) -> None:
    upstream.answer = OpenAIBatches()
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running:
        other = new_key(running, "other")
        with running.client() as client:
            form: Any = {"data": {"purpose": "batch"}, "files": {"file": ("a.jsonl", line(SAID[1]))}}
            answer = client.post("/v1/files", **form).json()
            asked = {"input_file_id": answer["id"], "endpoint": "/v1/chat/completions", "completion_window": "24h"}
            name = client.post("/v1/batches", json=asked).json()["id"]
    assert answer["svc"]["receipt"]["entity_counts"] == {"CREDIT_CARD": 1, "EMAIL_ADDRESS": 1}
    for file in [*running.data.iterdir(), running.log]:
        assert not any(value.encode() in file.read_bytes() for value in (MAIL, CARD))
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running:
        with running.client() as client:
            results = client.get(f"/v1/batches/{name}").json()["output_file_id"]
            assert SAID[1] in client.get(f"/v1/files/{results}/content").text
        with running.client(other) as client:
            for path in (f"/batches/{name}", f"/files/{results}/content", f"/files/{answer['id']}"):
                assert client.get(f"/v1{path}").status_code == 404
            assert client.post("/v1/batches", json=asked).status_code == 404
            assert client.get("/v1/files").json()["data"] == []
