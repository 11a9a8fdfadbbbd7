"""Closes exchanges: guards and restores the answer, and records the outcome.

A stream has been restored by then, with the same guard (`answer_guard`), in the process that moves its bytes.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from gateway.detection.recognizer import EntityType
from gateway.errors import BadUpstream, GatewayError
from gateway.exchange.answer_guard import CONTENT_FILTERED, AnswerGuard
from gateway.exchange.batches import Batches
from gateway.exchange.cited_spans import move
from gateway.exchange.earlier_answers import Earlier, EarlierAnswers
from gateway.exchange.messages import AnswerEnd, StreamPlan, known_tokens
from gateway.exchange.records import Records
from gateway.exchange.socket_conversations import SocketConversations
from gateway.exchange.state import Exchange
from gateway.exchange.streaming import AnswerStream
from gateway.exchange.streaming.result_lines import ResultLines
from gateway.guard import GuardContext, Verdict
from gateway.http.strict_json import dump, parse_object
from gateway.placeholders import RestoreScope
from gateway.protection.protector import Protector
from gateway.text.answers import AnswerText, CitedSpan
from gateway.wires.base import Body
from gateway.workers.thread_pool import Workers

_log = logging.getLogger(__name__)

# Bytes. Shorter answers take a few milliseconds, less than handing them to another thread would cost.
_THREAD_THRESHOLD = 16 * 1024
_INVALID = "upstream_invalid"


class Answers:
    """Closes exchanges. `patterns` detects new values in answers; `types` are the known entity types."""

    def __init__(
        self,
        patterns: Protector,
        types: Mapping[str, EntityType],
        workers: Workers,
        records: Records,
        earlier: EarlierAnswers,
        sockets: SocketConversations,
        batches: Batches,
    ) -> None:
        self._patterns = patterns
        self._types = types
        self._workers = workers
        self._records = records
        self._earlier = earlier
        self._sockets = sockets
        self._batches = batches

    async def close(self, exchange: Exchange, status: int, body: bytes) -> bytes:
        """Guards the upstream's answer, restores it for the client, and records the outcome.

        An answer that is to get the gateway's `svc` member and is no JSON object raises BadUpstream
        (`upstream_invalid`). Otherwise an unreadable answer is returned unchanged, including its placeholders.
        """
        job = partial(self.restore, exchange, status, body)
        if exchange.batch is not None and not (exchange.framing == "jsonl" and status < 400):
            job = partial(replace, await self._about_batch(exchange, status, body))
        end = await self._finish(exchange, len(body), job, AnswerEnd("restore_failed", status, body=body))
        if exchange.annotated and end.outcome == "unreadable_answer":
            raise BadUpstream("The upstream's answer is not a JSON object.", code=_INVALID)
        return end.body

    async def end(self, exchange: Exchange, end: AnswerEnd) -> None:
        """Records the outcome of a streamed answer, after the guard's last look at all of it."""
        if end.verdict is not None:
            await self._finish(exchange, 0, partial(replace, end), end)
            return
        size = sum(len(text.text) for text in end.texts)
        await self._finish(exchange, size, partial(self._review, exchange, end), end)

    async def _finish(
        self, exchange: Exchange, size: int, job: Callable[[], AnswerEnd], cancelled: AnswerEnd
    ) -> AnswerEnd:
        """Restores or reviews an answer of `size` bytes, and records the outcome: that of `job`, or of `cancelled`.

        Long answers wait in the queue in which requests wait, in the turn of their caller, and are never refused: the
        upstream has answered already, and no more answers can wait than requests were admitted.
        """
        end = cancelled
        try:
            if size <= _THREAD_THRESHOLD:
                end = job()
            else:
                end = await self._workers.run(job, key=exchange.caller.key_id, cost=size, closes=True)
        finally:
            exchange.verdict = end.verdict
            self._remember(exchange, end.ids)
            code = _INVALID if exchange.annotated and end.outcome == "unreadable_answer" else None
            self._records.end(exchange, end.outcome, end.status, end.tokens, sent=True, code=code)
        return end

    async def _about_batch(self, exchange: Exchange, status: int, body: bytes) -> AnswerEnd:
        try:
            lines = ResultLines(exchange.wire, self.plan(exchange, hold=True), limit=len(body))
            return await self._batches.answered(exchange, status, body, lines)
        except GatewayError as error:
            _log.error("the values of a batch could not be kept: %s", error.code)
            return AnswerEnd("restore_failed", status, body=body)

    def _remember(self, exchange: Exchange, ids: tuple[str, ...]) -> None:
        if not ids or not (exchange.resumable or exchange.connection):
            return
        known = exchange.placeholders.entries()
        if exchange.resumable:
            self._earlier.remember(exchange.caller, exchange.destination.provider, ids, known, exchange.urls)
        if exchange.connection:
            self._sockets.remember(exchange.connection, ids, Earlier(known, exchange.urls, key=exchange.session_key))

    def plan(self, exchange: Exchange, *, hold: bool = False) -> StreamPlan:
        """Returns what restoring a streamed answer takes. Only held answers are searched for new values."""
        note = exchange.note() if exchange.annotated else None
        guard = self._guard(exchange, reads_all=hold)
        return StreamPlan(guard, exchange.request_id, exchange.framing or "sse", note, hold)

    def restore(self, exchange: Exchange, status: int, body: bytes) -> AnswerEnd:
        """Guards and restores a body. Never raises."""
        outcome = "answered" if status < 400 else "upstream_error"
        tokens: tuple[int, int] | None = None
        try:
            if exchange.framing == "jsonl" and status < 400:
                lines = ResultLines(exchange.wire, self.plan(exchange, hold=True), limit=len(body))
                content = lines.feed(body) + lines.finish()
                return replace(lines.result(status), body=content)
            # Some upstreams stream to a client that has not asked for it. Where it is annotated, that is refused.
            streams = exchange.framing is not None or (exchange.wire.stream is not None and not exchange.annotated)
            is_object = body.lstrip().startswith(b"{") and exchange.framing != "ndjson"
            if streams and status < 400 and not is_object:
                return self._restore_stream(exchange, status, body)
            answer = parse_object(body)
            tokens = known_tokens(*exchange.wire.usage(answer))
            wire = exchange.wire
            ids = wire.answer_ids(answer, exchange.path) if status < 400 else ()
            verdict, changed = self._restore_texts(exchange, answer)
            if exchange.annotated:
                note = {**exchange.note(), "guard": verdict.as_dict()}
                wire.annotate(answer, note if status < 400 else None)
            # An answer in which nothing is restored is delivered byte for byte.
            content = dump(answer) if changed or exchange.annotated else body
            outcome = "guarded" if verdict.action == "replace" else outcome
            return AnswerEnd(outcome, status, tokens, ids=ids, body=content, verdict=verdict)
        except GatewayError:
            return AnswerEnd("unreadable_answer" if status < 400 else outcome, status, tokens, body=body)
        except Exception as error:  # noqa: BLE001 - the client gets the unrestored answer
            _log.error("restoring failed: %s", type(error).__name__)
            return AnswerEnd("restore_failed", status, tokens, body=body)

    def _restore_texts(self, exchange: Exchange, answer: Body) -> tuple[Verdict, bool]:
        """Guards and restores an answer in place. Returns the verdict, and whether the answer was changed."""
        echoes: list[AnswerText] = []
        texts: list[AnswerText] = []
        for text in exchange.wire.answer_texts(answer):
            (echoes if text.repeats(exchange.body) else texts).append(text)
        guard = self._guard(exchange)
        verdict = guard.inspect(texts)
        if verdict.action == "replace":
            exchange.wire.refuse_answer(answer, CONTENT_FILTERED)
            return verdict, True
        restored = [(text, guard.restored(text, verdict.redacted(at, text.text))) for at, text in enumerate(texts)]
        restored += [(text, guard.restored(text)) for text in echoes]
        changes = [(text, content) for text, content in restored if content != text.text]
        spans = [(span, _text_of(span)) for span in exchange.wire.spans(answer)] if changes else []
        for text, content in changes:
            text.write(content)
        for span, source in spans:
            move(span, source, _text_of(span) or "", guard)
        return verdict, bool(changes)

    def _restore_stream(self, exchange: Exchange, status: int, body: bytes) -> AnswerEnd:
        """Restores a streamed answer of which the guard has to see every text as a whole."""
        plan = self.plan(exchange, hold=True)
        stream = AnswerStream(exchange.wire, plan, limit=len(body))
        content = stream.feed(body) + stream.finish()
        end = stream.result(status)
        if not stream.has_begun and end.outcome == "answered":
            # A page of a proxy, or nothing at all.
            return AnswerEnd("unreadable_answer", status, body=body)
        return self._review(exchange, replace(end, body=content))

    def _review(self, exchange: Exchange, end: AnswerEnd) -> AnswerEnd:
        """Has the guard look at all that was streamed. Never raises."""
        try:
            seen = self._guard(exchange).inspect(end.texts)
        except Exception as error:  # noqa: BLE001 - the answer is complete; only its report is not
            _log.error("the review of a stream failed: %s", type(error).__name__)
            return end
        # Only text that the guard let pass has been sent, even if it now refuses the whole.
        missed = end.action == "pass" and seen.action != "pass"
        return replace(end, verdict=replace(seen, action="flag" if missed else end.action))

    def _guard(self, exchange: Exchange, *, reads_all: bool = True) -> AnswerGuard:
        """Returns the guard of an answer. One that does not read all of it can be sent to another process."""
        policy, placeholders = exchange.policy, exchange.placeholders
        types, detect = self._types, partial(self._patterns.detect, own=placeholders) if reads_all else None
        if not reads_all:
            types = {name: types[name] for name in types.keys() & placeholders.vocabulary.types}
        scope = RestoreScope(policy.restore.urls, exchange.urls)
        context = GuardContext(placeholders, scope, exchange.body, types)
        return AnswerGuard(context, policy.guard, policy.restore, detect)


def _text_of(span: CitedSpan) -> str | None:
    if span.text is None:
        return None
    container, key = span.text
    text = container[key]
    return text if isinstance(text, str) else None
