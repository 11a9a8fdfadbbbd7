"""Guards and restores answers that have arrived as a whole, and reviews those that were streamed."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gateway.detection.recognizer import EntityType
from gateway.errors import GatewayError
from gateway.exchange.messages import StreamEnd, StreamPlan
from gateway.exchange.restoring import restored
from gateway.exchange.state import Exchange
from gateway.exchange.streaming import CONTENT_FILTERED, AnswerStream
from gateway.guard import GuardContext, inspect
from gateway.http.strict_json import dump, parse_object
from gateway.models import Entity
from gateway.protection.protector import Protector
from gateway.wires import AnswerText, Body, is_resumable

_log = logging.getLogger(__name__)


class Answer(NamedTuple):
    """An answer for the client, and what the outcome record says of it. By `ids` a later request may continue it."""

    body: bytes
    outcome: str
    tokens: tuple[int, int] | None = None
    ids: tuple[str, ...] = ()


class Answers:
    """Restores answers. `patterns` detects new values in them; `types` are the known entity types."""

    def __init__(self, patterns: Protector, types: Mapping[str, EntityType]) -> None:
        self._patterns = patterns
        self._types = types

    def plan(self, exchange: Exchange, *, hold: bool = False) -> StreamPlan:
        """Returns what restoring a streamed answer takes. Only held answers are searched for types of new values."""
        types = self._types.keys() if hold else self._types.keys() & exchange.placeholders.vocabulary.types
        return StreamPlan(
            exchange.placeholders,
            exchange.scope,
            exchange.policy.guard,
            {name: self._types[name] for name in types},
            exchange.body,
            exchange.request_id,
            exchange.framing or "sse",
            exchange.note() if exchange.annotated else None,
            exchange.policy.restore,
            hold,
        )

    def restore(self, exchange: Exchange, status: int, body: bytes) -> Answer:
        """Guards and restores a body. Sets the exchange's verdict. Never raises."""
        outcome = "answered" if status < 400 else "upstream_error"
        tokens: tuple[int, int] | None = None
        try:
            # Some upstreams stream to a client that has not asked for it. Where it is annotated, that is refused.
            streams = exchange.framing is not None or (exchange.wire.stream is not None and not exchange.annotated)
            if streams and status < 400 and not body.lstrip().startswith(b"{"):
                return self._restore_stream(exchange, status, body)
            answer = parse_object(body)
            tokens = exchange.wire.usage(answer)
            wire = exchange.wire
            ids = wire.answer_ids(answer, exchange.path) if is_resumable(wire) and status < 400 else ()
            changed = self._restore_texts(exchange, answer)
            if exchange.verdict is not None and exchange.verdict.action == "replace":
                outcome = "guarded"
            if exchange.annotated:
                exchange.wire.annotate(answer, exchange.note() if status < 400 else None)
            # An answer in which nothing is restored crosses byte for byte.
            return Answer(dump(answer) if changed or exchange.annotated else body, outcome, tokens, ids)
        except GatewayError:
            return Answer(body, "unreadable_answer" if status < 400 else outcome, tokens)
        except Exception as error:  # noqa: BLE001 - the client gets the unrestored answer
            _log.error("restoring failed: %s", type(error).__name__)
            return Answer(body, "restore_failed", tokens)

    def _restore_texts(self, exchange: Exchange, answer: Body) -> bool:
        """Guards and restores an answer in place. Returns whether that changed it."""
        found = exchange.wire.answer_texts(answer)
        echoes: list[AnswerText] = []
        texts: list[AnswerText] = []
        for text in found:
            (echoes if text.repeats(exchange.body) else texts).append(text)
        verdict = exchange.verdict = inspect(texts, self._context(exchange, texts), exchange.policy.guard)
        if verdict.action == "replace":
            exchange.wire.refuse_answer(answer, CONTENT_FILTERED)
            return True
        passed = [(text, verdict.redacted(position, text.text)) for position, text in enumerate(texts)]
        passed += [(text, text.text) for text in echoes]
        changes = [_restore_text(exchange, *each) for each in passed]
        return any(changes)

    def _restore_stream(self, exchange: Exchange, status: int, body: bytes) -> Answer:
        """Restores a streamed answer of which the guard has to see every text as a whole."""

        def detect(text: str) -> Sequence[Entity]:
            return self._patterns.detect(text, exchange.placeholders)

        plan = self.plan(exchange, hold=True)
        stream = AnswerStream(exchange.wire, plan, limit=len(body), detect=detect)
        restored = stream.feed(body) + stream.finish()
        end = stream.result(status)
        if not stream.has_begun and end.outcome == "answered":
            # A page of a proxy, or nothing at all.
            return Answer(body, "unreadable_answer")
        self.review(exchange, end)
        return Answer(restored, end.outcome, end.tokens, end.ids)

    def review(self, exchange: Exchange, end: StreamEnd) -> None:
        """Has the guard look at all that was streamed. Sets the exchange's verdict. Never raises."""
        try:
            seen = inspect(end.texts, self._context(exchange, end.texts), exchange.policy.guard)
        except Exception as error:  # noqa: BLE001 - the answer is complete; only its report is not
            _log.error("the review of a stream failed: %s", type(error).__name__)
            return
        # Only what the guard let pass has been sent, whatever it makes of the whole.
        missed = end.action == "pass" and seen.action != "pass"
        exchange.verdict = replace(seen, action="flag" if missed else end.action)

    def _context(self, exchange: Exchange, texts: Sequence[AnswerText]) -> GuardContext:
        return GuardContext(
            exchange.placeholders,
            exchange.scope,
            request=exchange.body,
            types=self._types,
            entities=[self._patterns.detect(text.text, exchange.placeholders) for text in texts],
        )


def _restore_text(exchange: Exchange, text: AnswerText, content: str) -> bool:
    """Returns whether the text is another one now."""
    content = restored(text, content, exchange.placeholders, exchange.scope, exchange.policy.restore)
    changed = content != text.text
    if changed:
        text.container[text.key] = content
    return changed
