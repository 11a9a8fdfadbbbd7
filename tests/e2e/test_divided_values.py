"""A value that two parts of a message divide is hidden, and restored from an answer with broken lines and tokens."""

import json

from tests.e2e.server import Running
from tests.e2e.upstream import Recorded, Reply, Upstream

PARTS = ("my card is 4539 5787 ", "6362 1486, mail anna.schmidt@acme.test")
SCORES = {"content": [{"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []}]}


def _echo(request: Recorded) -> Reply:
    first, second = (part["text"] for part in request.json["messages"][0]["content"])
    broken = second.replace("[EMAIL_ADDRESS_", "[EMAIL_\n> ADDRESS_")
    assert broken != second
    choice = {"index": 0, "message": {"role": "assistant", "content": f"> {first}{broken}"}, "logprobs": SCORES}
    answer = {"id": "c", "object": "chat.completion", "model": "m", "choices": [{**choice, "finish_reason": "stop"}]}
    return Reply(json.dumps(answer).encode())


def test_a_value_in_two_parts(running: Running, upstream: Upstream) -> None:
    upstream.answer = _echo
    parts = [{"type": "text", "text": part} for part in PARTS]
    body = {"model": "configured-upstream", "logprobs": True, "messages": [{"role": "user", "content": parts}]}
    with running.client() as client:
        choice = client.post("/v1/chat/completions", json=body).json()["choices"][0]
        refused = client.post("/v1/completions", json={"model": "configured-upstream", "prompt": [4539, 5787]})
    sent = upstream.recorded[-1].body.decode()
    assert [value for value in ("4539", "6362", "anna.schmidt") if value in sent] == []
    assert choice["message"]["content"] == "> " + "".join(PARTS)
    assert choice["logprobs"] is None
    assert refused.status_code == 400
    assert "`prompt` holds token numbers" in refused.json()["error"]["message"]
    assert len(upstream.recorded) == 1
