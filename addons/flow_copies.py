"""Copies of flows for operators, who never see the flows that are served.

Copies consist of protected bytes. Nothing an operator does to one (edit, revert, delete, replay) can affect a request
under way, and nothing that a served flow holds for its client can reach an operator. The gateway's notes on a copy, and
all that is shown of calls whose text is not kept, are fixed words and numbers.
"""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import orjson
from mitmproxy import connection, http
from mitmproxy.flow import Error, Flow
from mitmproxy.proxy.mode_specs import ProxyMode

from addons.credentials import scrub
from gateway.http.methods import METHODS
from gateway.models import ReceiptRef
from gateway.wires.error_shapes import code_in

_KEY = "privacy_gateway"
UNKNOWN_HOST = "not-shown.invalid"
_UNKNOWN_PATH = "/(not-shown)"
# A path made of these words names the kind of call; any other word could be private.
_WORDS = re.compile(
    r"(?:/(?:v1|v1beta|openai|anthropic|api|chat|completions|messages|count_tokens|responses|embeddings|models"
    r"|analyze|explain|protect|reconstruct|shard|playground|run|policies|receipts|usage|payments|x402|healthz))+"
)
_REGULAR = ProxyMode.parse("regular")
_CODE = re.compile(r"[a-z0-9_]{1,64}")


@dataclass(slots=True)
class Notes:
    """The notes on one flow, kept in `flow.metadata` and in dumps. They hold nothing private.

    `receipt` is the receipt's record as JSON, `guard` the verdict as in an answer, `placeholders` those of the request.
    `edit` is the request id of an edit's receipt, `operator` the name of who made it, `refusal` the code of a refusal.
    `metadata_only` marks the entry of a call whose text is not kept. `decision` says what became of a call:
    `protected`, `passed` as it carries no text, `answered` by the gateway, `dropped`, `refused`. `wire` is the wire's
    id. `reasons` says how often a type was hidden for a reason. `reason` and `found` say why an operator's edit was
    refused, and the types and places of what was found in it.
    """

    request_id: str = ""
    receipt: str | None = None
    placeholders: Sequence[str] = ()
    guard: dict[str, Any] | None = None
    edit: str | None = None
    operator: str = ""
    refusal: str | None = None
    metadata_only: bool = False
    decision: str = ""
    wire: str = ""
    reason: str = ""
    found: Sequence[str] = ()
    reasons: Sequence[Sequence[Any]] = ()

    def put(self, into: Flow) -> None:
        """Stores the notes in the flow as plain values, which is all that mitmproxy can store."""
        into.metadata[_KEY] = {name: getattr(self, name) for name in _NAMES}


_NAMES = tuple(each.name for each in fields(Notes))


def metadata_of(of: Flow) -> Notes | None:
    """Returns the notes of a flow, including one loaded from a dump; None if it has none."""
    kept = of.metadata.get(_KEY)
    if not isinstance(kept, dict):
        return None
    return Notes(**{name: value for name, value in kept.items() if name in _NAMES})


def flow_copy(flow: http.HTTPFlow) -> http.HTTPFlow:
    """Returns a flow with the same request that shares no mutable state with `flow`."""
    shown = http.HTTPFlow(_connection_copy(flow.client_conn), _connection_copy(flow.server_conn))
    shown.request = request(flow)
    shown.timestamp_created = flow.request.timestamp_start
    return shown


def request(flow: http.HTTPFlow) -> http.Request:
    """Returns the request of `flow` as operators may see it."""
    return _message_copy(flow.request, http.Headers(flow.request.headers.fields))


def answer(shown: http.HTTPFlow, flow: http.HTTPFlow) -> None:
    """Copies the current response of `flow` into `shown`."""
    shown.server_conn = _connection_copy(flow.server_conn)
    if flow.response is not None:
        shown.response = _message_copy(flow.response, scrub(flow.response.headers))
        shown.response.timestamp_end = flow.response.timestamp_end or flow.response.timestamp_start


def _message_copy[M: http.Message](message: M, headers: http.Headers) -> M:
    # The constructor checks the type of every field, which would dominate the cost here.
    twin = copy(message)
    twin.stream = False
    twin.data = copy(message.data)
    twin.data.headers = headers
    twin.data.trailers = None
    return twin


def _connection_copy[C: connection.Connection](of: C) -> C:
    copied = copy(of)
    copied.state = connection.ConnectionState.CLOSED
    if isinstance(copied, connection.Client):
        # The address in the gateway's own mode is only a placeholder.
        copied.proxy_mode = _REGULAR
    return copied


def entry(flow: http.HTTPFlow, address: tuple[str, str, int], path: str, status: int | None) -> http.HTTPFlow:
    """Returns a flow that lists a call without its text. `address` is scheme, host and port.

    `path` must hold nothing private. A call without a status was broken off.
    """
    scheme, host, port = address
    asked = flow.request
    client = connection.Client(peername=flow.client_conn.peername, sockname=flow.client_conn.sockname)
    client.timestamp_start = flow.client_conn.timestamp_start or asked.timestamp_start
    shown = http.HTTPFlow(client, connection.Server(address=None))
    shown.timestamp_created = asked.timestamp_start
    shown.request = http.Request(
        host,
        port,
        (asked.method if asked.method in METHODS else "OTHER").encode(),
        scheme.encode(),
        b"",
        path.encode(),
        b"HTTP/1.1",
        http.Headers(),
        b"",
        None,
        asked.timestamp_start,
        asked.timestamp_end,
    )
    if status is None:
        shown.error = Error("broken off before anything was sent")
        return shown
    shown.response = http.Response.make(status)
    shown.response.headers.clear()
    return shown


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
    """Returns the request id that the client got. A body is not asked: it can have the ids of other requests."""
    if receipt is not None:
        return receipt.request_id
    return response.headers.get("x-svc-request-id") if response is not None else None


def code_of(response: http.Response) -> str | None:
    """Returns the code of one of the gateway's own errors; None for any other response."""
    if response.status_code < 400:
        return None
    try:
        code = code_in(orjson.loads(response.raw_content or b""))
    except orjson.JSONDecodeError:
        code = None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else f"status {response.status_code}"
