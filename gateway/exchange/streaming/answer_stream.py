"""Turns the body of a streamed answer, as the upstream sends it, into the body for the client."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from gateway.errors import BadUpstream, GatewayError
from gateway.exchange.answer_guard import CONTENT_FILTERED, Withheld
from gateway.exchange.cited_spans import move
from gateway.exchange.messages import AnswerEnd, StreamPlan, known_tokens
from gateway.exchange.streaming.channels import Channel
from gateway.exchange.streaming.events import Event
from gateway.exchange.streaming.framing import reader
from gateway.http.strict_json import dump
from gateway.http.upstream_failures import Fault
from gateway.placeholders.json_text import is_document
from gateway.text.answers import AnswerText, CitedSpan
from gateway.text.answers import Channel as ChannelId
from gateway.wires.base import Body, Wire

_log = logging.getLogger(__name__)


class AnswerStream:
    """One streamed answer of at most `limit` bytes.

    Its methods never raise: what fails ends the answer with what is safe.
    """

    def __init__(self, wire: Wire, plan: StreamPlan, *, limit: int) -> None:
        assert wire.stream is not None
        self._wire = wire
        self._format = wire.stream
        self._plan = plan
        self.framing = plan.framing
        self._reader = reader(plan.framing)
        self._guarded = replace(plan.guard)
        self._channels: dict[ChannelId, Channel] = {}
        # The last event of each channel, from which one with the held rest can be made.
        self._last: dict[ChannelId, tuple[Event, Body]] = {}
        # The text that the client has got of each channel, and of each complete text. Wires repeat texts, and the
        # repetition must read like the first occurrence.
        self._ready: dict[ChannelId, list[str]] = {}
        self._given: dict[tuple[str, str | None, str], str] = {}
        # The text of each choice that began last. Clients show the texts of a message as one.
        self._shown: dict[int, Channel] = {}
        # The tool that was last named in each choice, and the call of each channel. Events that continue a call do not
        # repeat its name.
        self._tools: dict[int, str] = {}
        self._calls: dict[ChannelId, str] = {}
        self._first: Body = {}
        self._latest: Body = {}
        self._ids: tuple[str, ...] = ()
        self._texts: list[AnswerText] = []
        self._tokens: list[int | None] = [None, None]
        self._left = limit
        self._outcome = "failed"

    @property
    def ended(self) -> bool:
        """Whether nothing more of the answer is passed on."""
        return self._outcome in {"guarded", "restore_failed", "unreadable_answer"}

    @property
    def has_begun(self) -> bool:
        """Whether an event of the answer has arrived."""
        return bool(self._first)

    def feed(self, piece: bytes) -> bytes:
        """Adds a piece of the upstream's body and returns what the client gets for it."""
        if self.ended:
            return b""
        self._left -= len(piece)
        return b"".join(self._safely(self._reader.feed(piece)))

    def finish(self) -> bytes:
        """Ends the body and returns the rest."""
        if self.ended:
            return b""
        rest = [*self._safely(self._reader.finish())]
        if not self.ended:
            rest += self._safely(iter((Event(b""),)), last=True)
        if not self.ended:
            rest.append(self._reader.close())
        if self._outcome == "failed":
            self._outcome = "answered"
        return b"".join(rest)

    def result(self, status: int) -> AnswerEnd:
        """Returns how it ended, for the outcome record."""
        grown = [channel.part for channel in self._channels.values()]
        tokens, texts = known_tokens(*self._tokens), [*grown, *self._texts]
        return AnswerEnd(self._outcome, status, tokens, self._guarded.action, texts, self._ids)

    def _safely(self, events: Iterator[Event], *, last: bool = False) -> Iterator[bytes]:
        try:
            if self._left < 0:
                raise Fault.TOO_LARGE.error()
            for event in events:
                yield from self._end_all() if last else self._event(event)
        except Withheld:
            self._outcome = "guarded"
            yield from self._written(self._format.refusal(CONTENT_FILTERED, self._first | self._latest))
        except GatewayError as error:
            self._outcome = "unreadable_answer"
            yield from self._written([self._format.error(error, self._plan.request_id)])
        except Exception as error:  # noqa: BLE001 - ends with what is safe; a message may hold private text
            _log.error("restoring a stream failed: %s", type(error).__name__)
            self._outcome = "restore_failed"
            failed = BadUpstream("The gateway could not restore the rest of the answer.", code="upstream_invalid")
            yield from self._written([self._format.error(failed, self._plan.request_id)])

    def _event(self, event: Event) -> Iterator[bytes]:
        if not event.data or event.data.strip() == b"[DONE]":
            if event.data:
                yield from self._end_all()
            # SDKs fail on a name without data, which is half of an event.
            if event.data or not event.name:
                yield event.raw
            return
        body = self._read(event)
        texts = self._format.texts(body)
        ending = [channel for channel in self._last if self._format.ends_channel(body, channel)]
        ending += self._passed_calls(texts)
        begun = [text.channel for text in texts if text.channel is not None and text.channel not in self._last]
        fed = {text.channel for text in texts if text.channel is not None}
        # Some upstreams give all calls the same place.
        replaced = [text.channel for text in texts if text.channel in self._last and self._is_other_call(text)]
        for channel in dict.fromkeys([*(each for each in ending if each not in fed), *replaced]):
            yield from self._end(channel)
        changed = self._restore(texts, [*ending, *(each for each in begun if self._format.ends_channel(body, each))])
        moved = [self._move(span) for span in self._format.spans(body)]
        changed = changed or any(moved)
        self._last |= {text.channel: (event, body) for text in texts if text.channel is not None}
        if self._plan.note is not None and self._format.is_last(body):
            changed = True
            self._annotate(body)
        elif b'"svc"' in event.data:
            self._wire.annotate(body, None)
            changed = True
        if changed and not self._format.has_empty_deltas and _is_emptied(texts):
            yield self._reader.pause
            return
        yield self._reader.write(dump(body), event) if changed else event.raw

    def _read(self, event: Event) -> Body:
        """Parses an event, and notes what it says of the answer. Raises BadUpstream."""
        try:
            body: Any = orjson.loads(event.data)
        except orjson.JSONDecodeError:
            raise BadUpstream("The upstream sent an event that is not JSON.", code="upstream_invalid") from None
        if not isinstance(body, dict):
            raise BadUpstream("The upstream sent an event that is not a JSON object.", code="upstream_invalid")
        if not self._first:
            self._first = body
        if not self._ids:
            # On a WebSocket, events of the connection may come first.
            self._ids = self._wire.answer_ids(body)
        self._latest = body
        for index, count in enumerate(self._wire.usage(body)):
            if count is not None:
                self._tokens[index] = count
        return body

    def _restore(self, texts: Sequence[AnswerText], ending: Sequence[ChannelId]) -> bool:
        """Restores the texts of an event in place, and tells whether it changed any. `ending` are complete after it."""
        changed = False
        last = {text.channel: text for text in texts}
        last_of_call = {(text.channel, text.call): text for text in texts}
        for text in texts:
            is_last = last_of_call[text.channel, text.call] is text
            ends = last[text.channel] is not text or text.channel in ending
            ready = self._restored(text, is_last=is_last and ends)
            if ready != text.text:
                text.write(ready)
                changed = True
        return changed

    def _move(self, span: CitedSpan) -> bool:
        """Moves the offsets of a citation in a text of which the client has got the beginning."""
        known = self._channels.get(span.channel or ())
        given = "".join(self._ready.get(span.channel or (), ()))
        return move(span, known.text if known is not None else None, given, self._guarded)

    def _passed_calls(self, texts: Sequence[AnswerText]) -> list[ChannelId]:
        """Returns the places of calls whose arguments are complete when the next call of their choice begins.

        SDKs take a call for complete then, and parse what they have of it.
        """
        begun = {text.choice for text in texts if text.kind == "json" and text.channel not in self._last}
        known = [(place, self._channels[place]) for place in self._last if begun]
        return [
            place for place, each in known if each.kind == "json" and each.choice in begun and is_document(each.text)
        ]

    def _is_other_call(self, text: AnswerText) -> bool:
        """Whether a text is part of another call than the last text of its channel.

        Some upstreams give every piece of a call an id of its own, so another id begins a call only with the name of
        its tool, or where one document ends and another begins.
        """
        if text.channel is None or not text.call or self._calls.get(text.channel, text.call) == text.call:
            return False
        begins = text.text.lstrip().startswith(("{", "["))
        return text.tool is not None or (begins and self._channels[text.channel].text.rstrip().endswith(("}", "]")))

    def _restored(self, text: AnswerText, *, is_last: bool) -> str:
        channel = self._channels.get(text.channel or ())
        is_other = self._is_other_call(text)
        if text.tool is not None:
            self._tools[text.choice] = text.tool
        elif text.kind == "json":
            # Calls with ids may take turns.
            known = channel if text.channel in self._calls else None
            text.tool = self._tools.get(text.choice) if known is None else known.tool
        if text.channel is None:
            return self._complete(text)
        if channel is None or channel.tool != text.tool or is_other:
            if channel is not None:
                # The call of another tool, in the place of one that has ended.
                self._texts.append(channel.part)
                del self._ready[text.channel]
            channel = Channel(self._guarded, text.kind, text.choice, text.tool, self._plan.hold)
            self._channels[text.channel] = channel
            # Upstreams that give a call at once may omit its place, without which no event can continue it.
            is_last = is_last or (text.kind == "json" and is_document(text.text))
            if text.kind == "text":
                if text.choice in self._shown:
                    channel.follow(self._shown[text.choice])
                self._shown[text.choice] = channel
        if text.call:
            self._calls[text.channel] = text.call
        ready = channel.feed(text.text)
        self._ready.setdefault(text.channel, []).append(ready)
        if is_last:
            ready += self._finished(text.channel)
        return ready

    def _complete(self, text: AnswerText) -> str:
        known = self._given.get((text.kind, text.tool, text.text))
        if known is not None:
            return known
        if text.repeats(self._guarded.context.request):
            given = self._guarded.restored(text)
        else:
            self._texts.append(text)
            given = self._guarded.whole(text)
        self._given[text.kind, text.tool, text.text] = given
        return given

    def _finished(self, channel: ChannelId) -> str:
        self._last.pop(channel, None)
        grown, ready = self._channels[channel], self._ready[channel]
        ready.append(grown.finish())
        self._given[grown.kind, grown.tool, grown.text] = "".join(ready)
        return ready[-1]

    def _end(self, channel: ChannelId) -> Iterator[bytes]:
        """Yields an event with what a channel still holds."""
        event, last = self._last[channel]
        rest = self._finished(channel)
        if rest:
            body = self._format.continued(channel, rest, last)
            yield self._reader.write(dump(body), event._replace(name=self._name(body)))

    def _end_all(self) -> Iterator[bytes]:
        for channel in [*self._last]:
            yield from self._end(channel)

    def _written(self, bodies: list[Body | bytes]) -> Iterator[bytes]:
        for body in bodies:
            if isinstance(body, bytes):
                yield body
                continue
            if self._plan.note is not None and self._format.is_last(body):
                self._annotate(body)
            yield self._reader.write(dump(body), Event(b"", b"", self._name(body)))
        yield self._reader.close(early=True)

    def _annotate(self, body: Body) -> None:
        self._wire.annotate(body, {**(self._plan.note or {}), "guard": {"action": self._guarded.action}})

    def _name(self, body: Body) -> bytes:
        """Returns the name of an event of this wire's own, empty where events have none."""
        kind = body.get("type")
        return kind.encode() if self._format.names_events and isinstance(kind, str) else b""


def _is_emptied(texts: Sequence[AnswerText]) -> bool:
    """Whether an event continues texts and nothing more, and all it has of them is held back."""
    return bool(texts) and all(text.channel is not None and not text.container[text.key] for text in texts)
