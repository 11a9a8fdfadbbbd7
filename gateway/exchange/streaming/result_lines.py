"""Restores the results of a batch line by line. Each line is a JSON object with the whole answer to one request."""

import json
import logging
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gateway.errors import BadUpstream, GatewayError
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.exchange.messages import AnswerEnd, StreamPlan
from gateway.guard.verdict import GuardFinding, Verdict
from gateway.http.strict_json import dump, parse_object
from gateway.http.upstream_failures import Fault
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Wire
from gateway.wires.batches import BatchWire
from gateway.wires.error_shapes import error_body
from gateway.wires.members import text_at

_log = logging.getLogger(__name__)
_UNREADABLE = (
    "The upstream sent a result that is not valid JSON, such as one with NaN or with a key twice, so that its "
    "placeholders cannot be restored; send the request again."
)


class ResultLines:
    """Results as they arrive. A line has at most `limit` bytes: a longer one ends the body with an error.

    A line that cannot be read, and has placeholders, is replaced by an error under the same `custom_id`. Any other line
    that is no result is passed on as it is; so is all of a file of which nothing is known. The methods never raise.
    """

    framing = "jsonl"

    def __init__(self, wire: Wire, plan: StreamPlan, *, limit: int) -> None:
        assert isinstance(wire, BatchWire)
        self._wire = wire
        self._plan = plan
        self._guard = replace(plan.guard)
        self._passes = False
        self._limit = limit
        self._pending: list[bytes] = []
        self._size = 0
        self._tokens = [0, 0]
        self._findings: Counter[tuple[Any, str, Any]] = Counter()
        self._outcome = "failed"
        self._is_whole = True

    @property
    def ended(self) -> bool:
        """Whether nothing more is passed on."""
        return self._outcome == "unreadable_answer"

    def feed(self, piece: bytes) -> bytes:
        """Adds a piece of the body and returns the lines that are complete."""
        if self.ended or self._passes:
            return b"" if self.ended else piece
        first, *others = piece.split(b"\n")
        self._pending.append(first)
        self._size += len(first)
        ready: list[bytes] = []
        for other in others:
            ready += self._line(), b"\n"
            self._pending, self._size = [other], len(other)
        if self._size > self._limit:
            self._passes = not len(self._guard.context.placeholders)
            ready += self._pending if self._passes else [self._too_long()]
            self._pending = []
        return b"".join(ready)

    def _too_long(self) -> bytes:
        self._outcome = "unreadable_answer"
        return dump(error_body(Fault.TOO_LARGE.error(), self._plan.request_id, self._wire.family)) + b"\n"

    def finish(self) -> bytes:
        """Ends the body and returns the rest."""
        rest = b"" if self.ended else self._line()
        self._outcome = "answered" if self._is_whole and not self.ended else "unreadable_answer"
        return rest

    def result(self, status: int) -> AnswerEnd:
        """Returns how it ended, for the outcome record."""
        found = tuple(GuardFinding(*each, count) for each, count in sorted(self._findings.items()))
        tokens = (self._tokens[0], self._tokens[1]) if any(self._tokens) else None
        action = self._guard.action
        return AnswerEnd(self._outcome, status, tokens, action, verdict=Verdict(action, found))

    def _line(self) -> bytes:
        line = b"".join(self._pending)
        self._pending, self._size = [], 0
        mark = BOM_UTF8 if line.startswith(BOM_UTF8) else b""
        try:
            body = parse_object(line[len(mark) :]) if line.strip() else None
            return line if body is None else mark + self._restored(line[len(mark) :], body)
        except GatewayError:
            return self._unreadable(line)
        except Exception as error:  # noqa: BLE001 - the client gets an error
            _log.error("a line of results could not be restored: %s", type(error).__name__)
            return self._unreadable(line)

    def _unreadable(self, line: bytes) -> bytes:
        """Returns what the client gets of a line that cannot be restored, such as one with NaN or a key twice."""
        placeholders, scope = self._guard.context.placeholders, self._guard.context.scope
        if not any(placeholders.find(line.decode("utf-8", "replace"))):
            return line
        self._is_whole = False
        error = error_body(BadUpstream(_UNREADABLE, code="upstream_invalid"), self._plan.request_id, self._wire.family)
        try:
            name = text_at(json.loads(line.decode("utf-8-sig")), "custom_id")
        except (ValueError, RecursionError):
            name = ""
        restored = {"custom_id": placeholders.restore(name, rules=scope).text} if name else {}
        return dump({**restored, **error})

    def _restored(self, line: bytes, body: Body) -> bytes:
        return dump(body) if self.restore(body) else line

    def restore(self, body: Body) -> bool:
        """Guards and restores a result in place. Returns whether it changed."""
        guard = self._guard
        inner = self._wire.answer_in(body)
        wire, answer = inner if inner is not None else (self._wire, body)
        texts = wire.answer_texts(answer) if inner is not None else []
        for index, count in enumerate(wire.usage(answer) if inner is not None else ()):
            self._tokens[index] += count or 0
        verdict = guard.inspect(texts)
        for each in verdict.findings:
            self._findings[each.kind, each.rule, each.severity] += each.count
        restored = [(text, guard.restored(text)) for text in _strings(body, answer if inner is not None else None)]
        if verdict.action == "replace":
            wire.refuse_answer(answer, CONTENT_FILTERED)
        else:
            restored += [(text, guard.restored(text, verdict.redacted(at, text.text))) for at, text in enumerate(texts)]
        guard.context.placeholders.forget_texts()
        changes = [(text, content) for text, content in restored if content != text.text]
        for text, content in changes:
            text.write(content)
        return bool(changes) or verdict.action == "replace"


def _strings(value: Any, answer: Body | None) -> Iterator[AnswerText]:
    """Yields the strings of a line beside the answer in it: the `custom_id`, and errors that may quote the request."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(member, str):
            yield AnswerText(value, key, member)
        elif isinstance(member, dict | list) and member is not answer:
            yield from _strings(member, answer)
