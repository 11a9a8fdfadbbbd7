"""A scripted provider of batches: each answer repeats the user's last message, and results come in small pieces."""

import json
from collections.abc import Iterator
from email.parser import BytesParser
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


class OpenAIBatches:
    """Files and batches, which end as soon as they are created. Requests with `n` 13 fail."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.content = b""

    def _file(self, name: str) -> dict[str, Any]:
        filename, content = self.files[name]
        known = {"id": name, "object": "file", "bytes": len(content), "created_at": 1, "filename": filename}
        return {**known, "purpose": "batch", "status": "processed"}

    def _upload(self, request: Recorded) -> Reply:
        message: Any = BytesParser().parsebytes(
            f"content-type: {request.header('content-type')}\r\n\r\n".encode() + request.body
        )
        parts = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}
        assert parts["purpose"].get_payload() == "batch"
        name = f"file-AbCdEfGhJkLmNpQrStUv{len(self.files)}"
        self.files[name] = str(parts["file"].get_filename()), parts["file"].get_payload(decode=True)
        return Reply(json.dumps(self._file(name)).encode())

    def _start(self, asked: dict[str, Any]) -> Reply:
        good: list[str] = []
        bad: list[str] = []
        for line in self.files[asked["input_file_id"]][1].splitlines():
            given = json.loads(line)
            message = {"role": "assistant", "content": said(given["body"])}
            answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": given["body"]["model"]}
            answer |= {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            answer |= {"usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}}
            failed = given["body"].get("n") == 13
            body = {"error": {"message": f"No: {message['content']}"}} if failed else answer
            response = {"status_code": 400 if failed else 200, "request_id": "r", "body": body}
            result = {"id": "batch_req_1", "custom_id": given["custom_id"], "response": response, "error": None}
            (bad if failed else good).append(json.dumps(result))
        batch = {"id": f"batch_AbCdEfGhJkLmNpQrStUv{len(self.batches)}", "object": "batch", "status": "completed"}
        batch |= {name: asked.get(name) for name in ("input_file_id", "endpoint", "completion_window", "metadata")}
        for member, lines in (("output_file_id", good), ("error_file_id", bad)):
            name = f"file-{member}{len(self.files)}"
            self.files[name] = "out.jsonl", "\n".join([*lines, ""]).encode()
            batch[member] = name
        self.batches[batch["id"]] = {**batch, "created_at": 1}
        # The names of the results are known once it has ended.
        return Reply(json.dumps({**batch, "created_at": 1, "output_file_id": None, "error_file_id": None}).encode())

    def __call__(self, request: Recorded) -> Reply:
        _, _, kind, *parts = request.path.split("/")
        known: Any = self.files if kind == "files" else self.batches
        if request.method == "POST" and not parts:
            return self._upload(request) if kind == "files" else self._start(request.json)
        if not parts:
            listed = [*map(self._file, self.files)] if kind == "files" else [*self.batches.values()]
            return Reply(json.dumps({"object": "list", "data": listed, "has_more": False}).encode())
        if parts[0] not in known:
            return Reply(b'{"error": {"message": "no such file"}}', 404)
        if request.method == "DELETE":
            return Reply(json.dumps({"id": parts[0], "object": "file", "deleted": True}).encode())
        if parts[1:] == ["content"]:
            content = self.files[parts[0]][1]
            pieces = (content[at : at + 37] for at in range(0, len(content), 37))
            return Reply(pieces, headers={"content-type": "application/octet-stream"})
        return Reply(json.dumps(self._file(parts[0]) if kind == "files" else self.batches[parts[0]]).encode())
