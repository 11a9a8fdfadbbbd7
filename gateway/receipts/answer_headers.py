"""What a receipt says, as header fields of the answer. Streamed answers have them before their first event."""

from hashlib import sha256

import orjson

from gateway.models import ReceiptRef


def answer_headers(receipt: ReceiptRef) -> dict[str, str]:
    """Returns the header fields. The tokens are the gateway's estimates, as in the receipt."""
    body = orjson.loads(receipt.body)
    policy, tokens = body["policy"], body["tokens"]
    return {
        "x-svc-request-id": receipt.request_id,
        "x-svc-receipt": sha256(receipt.body.encode()).hexdigest(),
        "x-svc-route": body["route"],
        "x-svc-policy": f"{policy['id']}@{policy['version']}",
        "x-svc-tokens": f"input={tokens['input']}, external={tokens['external']}",
    }
