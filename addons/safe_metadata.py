"""Metadata that is safe to show of calls whose text is not kept: fixed words and numbers, nothing the client wrote."""

import re

import orjson
from mitmproxy import http

from gateway.models import ReceiptRef

UNKNOWN_HOST = "not-shown.invalid"
_UNKNOWN_PATH = "/(not-shown)"
# A path made of these words names the kind of call; any other word could be private.
_WORDS = re.compile(
    r"(?:/(?:v1|v1beta|openai|anthropic|api|chat|completions|messages|count_tokens|responses|embeddings|models"
    r"|analyze|protect|reconstruct|shard|playground|run|policies|receipts|usage|payments|x402|healthz))+"
)
_REQUEST_ID = re.compile(rb'"request_id":"(req_[0-9a-f]{1,64})"')
_CODE = re.compile(r"[a-z0-9_]{1,64}")
_NEAR = 4096


def plain_path(path: str) -> str:
    """Returns the path without its query if it consists of protocol words only, else a fixed path."""
    bare = path.partition("?")[0]
    return bare if _WORDS.fullmatch(bare) else _UNKNOWN_PATH


def summary(receipt: ReceiptRef) -> str:
    """Summarizes a receipt in one line, the most important first, since the list shows only the beginning."""
    body = orjson.loads(receipt.body)
    hidden = sum(body["entity_counts"].values())
    policy = body["policy"]
    return f"{hidden or 'nothing'} hidden · #{receipt.sequence} · {policy['id']} v{policy['version']}"


def request_id_of(response: http.Response | None, receipt: ReceiptRef | None) -> str | None:
    """Returns the request id that the client got, reading only the beginning of the answer."""
    if receipt is not None:
        return receipt.request_id
    if response is None:
        return None
    header = response.headers.get("x-svc-request-id")
    found = _REQUEST_ID.search((response.raw_content or b"")[:_NEAR])
    return header or (found[1].decode() if found else None)


def code_of(response: http.Response) -> str | None:
    """Returns the code of one of the gateway's own errors; None for any other response."""
    if response.status_code < 400:
        return None
    try:
        code = orjson.loads(response.raw_content or b"")["error"]["code"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        code = ""
    return code if isinstance(code, str) and _CODE.fullmatch(code) else f"status {response.status_code}"
