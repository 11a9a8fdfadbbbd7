"""Events as the inspected gateway tells them, and the records they make."""

import json
from base64 import b64encode
from typing import Any

from gateway.cli.inspection.records import Records, Sent

CARD, OWN = "4539578763621486", "[CREDIT_CARD_7KQ2M]"
LINE = {
    "request_id": "req_1",
    "listener": "proxy",
    "outcome": "answered",
    "upstream_status": 200,
    "ms": {"total": 1200},
}
LINE |= {"wire": "chat-completions", "model": "gpt-5", "policy": "default@1", "entities": {"CREDIT_CARD": 1}}


def chat(*texts: str, role: str = "user", **members: Any) -> dict[str, Any]:
    return {"model": "gpt-5", "messages": [{"role": role, "content": text} for text in texts], **members}


def sending(body: Any = b"", **members: Any) -> dict[str, Any]:
    """A request that is about to be sent. `body` may be JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    told: dict[str, Any] = {"event": "sending", "request_id": "req_1", "time": 0.0, "method": "POST", "port": 443}
    told |= {"scheme": "https", "host": "api.example", "path": "/v1/chat/completions", "wire": "chat-completions"}
    told |= {"headers": [["x-app", "cli"]], "credentials": [["authorization", "Bearer key"]]}
    return {**told, "placeholders": [OWN], "body": b64encode(data).decode(), **members}


def ended(answer: bytes = b"", sent: bool = True, **line: Any) -> dict[str, Any]:
    told = {"event": "ended", "line": {**LINE, **line}, "host": "api.example", "port": 443, "sent": sent}
    return {**told, "answer": b64encode(answer).decode()}


def sent(body: Any = b"", **members: Any) -> Sent:
    records = Records()
    records.take(sending(body, **members))
    return records.sent[0]
