"""Files and batches of OpenAI's API and message batches of Anthropic's, which end as soon as they are created."""

import json
from collections.abc import Callable
from email.parser import BytesParser
from typing import Any

type Json = Any
# Returns the answer to a request, by its path and body.
type Answer = Callable[[str, Json], Json]

_TIMES: Json = {"created_at": "2026-11-28T12:00:00Z", "expires_at": "2026-11-29T12:00:00Z", "ended_at": None}
_TIMES |= {"archived_at": None, "cancel_initiated_at": None}


class Batches:
    """Keeps files, batches and results by their paths."""

    def __init__(self) -> None:
        self._kept: dict[str, Json] = {}

    def read(self, path: str) -> Json | None:
        """Returns what is at a path, bytes if it is a file."""
        return self._kept.get(path)

    def create(self, url: str, path: str, kind: str, body: bytes, answer: Answer) -> Json | None:
        """Returns what a request to the server at `url` creates, None if nothing. `kind` is the body's media type."""
        if path.endswith("/messages/batches"):
            return self._messages(url, path, json.loads(body)["requests"], answer)
        base, _, last = path.rpartition("/")
        if last == "files":
            message: Any = BytesParser().parsebytes(f"content-type: {kind}\r\n\r\n".encode() + body)
            parts = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}
            return self._file(base, parts["file"].get_payload(decode=True))
        return self._batch(base, json.loads(body), answer) if last == "batches" else None

    def _file(self, base: str, content: bytes) -> Json:
        name = f"file-MadeUpMadeUp{len(self._kept)}"
        known = {"id": name, "object": "file", "bytes": len(content), "created_at": 1, "filename": "a.jsonl"}
        self._kept[f"{base}/files/{name}/content"] = content
        self._kept[f"{base}/files/{name}"] = {**known, "purpose": "batch", "status": "processed"}
        return self._kept[f"{base}/files/{name}"]

    def _batch(self, base: str, asked: Json, answer: Answer) -> Json:
        lines = map(json.loads, self._kept[f"{base}/files/{asked['input_file_id']}/content"].splitlines())
        results = [
            {
                "id": "batch_req_1",
                "custom_id": line["custom_id"],
                "response": {"status_code": 200, "request_id": "r", "body": answer(line["url"], line["body"])},
                "error": None,
            }
            for line in lines
        ]
        output = self._file(base, _lines(results))["id"]
        batch = {"id": f"batch_MadeUpMadeUp{len(self._kept)}", "object": "batch", "created_at": 1, **asked}
        self._kept[f"{base}/batches/{batch['id']}"] = {**batch, "status": "completed", "output_file_id": output}
        return {**batch, "status": "validating"}

    def _messages(self, url: str, path: str, requests: list[Json], answer: Answer) -> Json:
        name = f"msgbatch_MadeUpMadeUp{len(self._kept)}"
        results = [
            {
                "custom_id": each["custom_id"],
                "result": {"type": "succeeded", "message": answer("/messages", each["params"])},
            }
            for each in requests
        ]
        counts = {"processing": 0, "succeeded": len(results), "errored": 0, "canceled": 0, "expired": 0}
        batch = {"id": name, "type": "message_batch", "request_counts": counts, **_TIMES}
        place = f"{path}/{name}"
        self._kept[f"{place}/results"] = _lines(results)
        self._kept[place] = {**batch, "processing_status": "ended", "results_url": f"{url}{place}/results"}
        return {**batch, "processing_status": "in_progress", "results_url": None}


def _lines(values: list[Json]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in values)
