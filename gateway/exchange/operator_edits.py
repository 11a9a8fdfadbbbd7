"""Checks an operator's edit of a protected request before it is forwarded.

An edit may not add anything private. Its body is read by the same wire and searched under the same policy as the
client's, and it may not hold any value that was hidden in the client's request. Text of the protected request may be
moved, repeated and removed. Model, streaming and attachments cannot be changed.

An accepted edit gets a receipt of its own, which names the request that it amends: the digest in the first receipt is
of bytes that were never forwarded.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import partial

from gateway.corrections.lists import Corrections
from gateway.errors import EditRefused, GatewayError
from gateway.exchange.dates import days
from gateway.exchange.edit_findings import places
from gateway.exchange.leak_search import LeakSearch
from gateway.exchange.records import Records
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump, parse_object
from gateway.models import PrivacyMode
from gateway.policy.generalization import default_generalization
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.receipts.records import Receipt
from gateway.text.token_estimate import estimate
from gateway.wires.base import Conversation
from gateway.workers.thread_pool import Workers

_NAME_PART = re.compile(r"[^\W\d_]{3,}")


class OperatorEdits:
    """Checks edits and writes their receipts."""

    def __init__(self, protector: Protector, workers: Workers, records: Records) -> None:
        self._protector = protector
        self._workers = workers
        self._records = records

    async def apply(self, exchange: Exchange, edited: bytes, operator: str = "") -> Receipt:
        """Makes `edited` the body of an exchange and returns the edit's receipt, durable on return.

        Raises EditRefused.
        """
        if exchange.batch is not None:
            raise EditRefused.because("a batch cannot be edited. Release it unchanged.")
        if exchange.files:
            raise EditRefused.because("a request with attached files cannot be edited. Release it unchanged.")
        if exchange.source is None:
            raise EditRefused.because("interception was off when the request arrived. Release it unchanged.")
        check = partial(self._check, exchange, exchange.source, edited)
        cost = len(edited) + len(exchange.source)
        body, size = await self._workers.run(check, key=exchange.caller.key_id, cost=cost)
        receipt = await self._records.edit(exchange, body, size, operator)
        exchange.body, exchange.edit = body, receipt.request_id
        exchange.protected.tokens = exchange.protected.tokens[0], size
        return receipt

    def _check(self, exchange: Exchange, source: bytes, edited: bytes) -> tuple[bytes, int]:
        """Returns the body that may be sent and the estimate of its tokens. Raises EditRefused."""
        read = partial(exchange.wire.read, path=exchange.path)
        try:
            body = parse_object(edited)
            after = read(body)
        except GatewayError as error:
            raise EditRefused.because(f"the edited body cannot be read. {error.message}") from None
        sent = parse_object(exchange.body)
        # Reading takes the gateway's own members out.
        before = read(parse_object(exchange.body))
        if (after.model, after.stream) != (before.model, before.stream):
            raise EditRefused.because("the model and `stream` cannot be changed. Edit only texts.")
        if not set(after.attachments) <= set(before.attachments):
            raise EditRefused.because("attachments cannot be added. Edit only texts.")
        original = read(parse_object(source))
        texts_before, texts_after = LeakSearch(before.texts()), LeakSearch(after.texts())
        mode = original.privacy_mode
        hidden = partial(self._hidden, policy=exchange.policy, mode=mode, corrections=exchange.corrections)
        private = dict(hidden(after)) | dict(hidden(original))
        added = {value: type_ for value, type_ in private.items() if _is_added(value, texts_before, texts_after)}
        if added:
            raise EditRefused.because(
                "it adds private text that the protected request does not hold. Remove that text.",
                places(parse_object(edited), sent, added),
            )
        return dump(body), sum(map(estimate, after.texts()))

    def _hidden(
        self, conversation: Conversation, policy: Policy, mode: PrivacyMode, corrections: Corrections | None
    ) -> Iterator[tuple[str | date, str]]:
        """Yields the values that are hidden, and their types: also each part of a name, and the day of a date."""
        found = self._protector.find(conversation.blocks, policy, mode, block=False, corrections=corrections)
        for block, result in zip(conversation.blocks, found, strict=True):
            texts = (text for field in block for text in field.texts)
            for text, spans in zip(texts, result.spans, strict=True):
                for span in spans:
                    values: list[str | date] = [text[span.start : span.end]]
                    if span.type == "PERSON":
                        values += _NAME_PART.findall(text, span.start, span.end)
                    elif default_generalization(span.type) == "year":
                        values += days(text[span.start : span.end])
                    yield from ((value, span.type) for value in values)


def _is_added(value: str | date, before: LeakSearch, after: LeakSearch) -> bool:
    return after.holds(value) and not before.holds(value)
