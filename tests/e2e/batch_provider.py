"""A scripted provider of batches: each answer repeats the user's last message, and results come in small pieces."""

import json
from collections.abc import Iterator
from typing import Any

from tests.e2e.upstream import Recorded, Reply


def said(body: dict[str, Any]) -> str:
    """The user's latest words, as they arrived."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[-1]["text"])


def in_pieces(lines: list[dict[str, Any]]) -> Iterator[bytes]:
    body = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    return (body[at : at + 37] for at in range(0, len(body), 37))


class AnthropicBatches:
    """Message Batches, which end as soon as they are created. `url` is where the provider says that the results are."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.batches: dict[str, list[dict[str, Any]]] = {}

    def batch(self, name: str) -> dict[str, Any]:
        counts = {"processing": 0, "succeeded": len(self.batches[name]), "errored": 0, "canceled": 0, "expired": 0}
        times = {"created_at": "2026-11-28T12:00:00Z", "expires_at": "2026-11-29T12:00:00Z", "ended_at": None}
        times |= {"archived_at": None, "cancel_initiated_at": None}
        known = {"id": name, "type": "message_batch", "processing_status": "ended", "request_counts": counts}
        return {**known, **times, "results_url": f"{self.url}/v1/messages/batches/{name}/results"}

    def results(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for each in self.batches[name]:
            message = {"id": "msg_01", "type": "message", "role": "assistant", "model": each["params"]["model"]}
            message |= {"content": [{"type": "text", "text": said(each["params"])}], "stop_reason": "end_turn"}
            message |= {"stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 3}}
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": said(each["params"])}}
            failed = each["params"]["max_tokens"] == 13
            result = {"type": "errored", "error": error} if failed else {"type": "succeeded", "message": message}
            found.append({"custom_id": each["custom_id"], "result": result})
        return found

    def __call__(self, request: Recorded) -> Reply:
        parts = request.path.split("/")[4:]
        if request.method == "POST" and not parts:
            name = f"msgbatch_01HkcTjaV5uDC8jWR4ZsDV8{len(self.batches)}"
            self.batches[name] = request.json["requests"]
            return Reply(json.dumps(self.batch(name)).encode())
        if not parts:
            listed = [self.batch(name) for name in self.batches]
            page = {"data": listed, "has_more": False, "first_id": None, "last_id": None}
            return Reply(json.dumps(page).encode())
        if parts[0] not in self.batches:
            return Reply(b'{"type": "error", "error": {"type": "not_found_error", "message": "no"}}', 404)
        if request.method == "DELETE":
            return Reply(json.dumps({"id": parts[0], "type": "message_batch_deleted"}).encode())
        if parts[1:] == ["results"]:
            return Reply(in_pieces(self.results(parts[0])), headers={"content-type": "application/x-jsonl"})
        return Reply(json.dumps(self.batch(parts[0])).encode())
