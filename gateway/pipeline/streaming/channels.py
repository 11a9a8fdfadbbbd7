"""The texts of an answer that grow piece by piece. Each is guarded and restored on its own.

Text passes as it arrives, but for an end that may still become a placeholder. From a placeholder on it is held to the
end of the sentence or line (in code, to the end of the block), so that the guard sees where the value would go. The
arguments of a tool call are held from their first placeholder to their end, since nothing runs half of a call.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gateway.guard import GuardContext, Verdict, inspect
from gateway.guard.verdict import GuardAction
from gateway.models import Entity
from gateway.pipeline.restoring import restored
from gateway.placeholders import StreamRestorer
from gateway.placeholders.matcher import open_end, scan
from gateway.policy.document import GuardDocument, RestoreDocument
from gateway.wires import AnswerText

type Detect = Callable[[str], Sequence[Entity]]

# Characters of text before a held stretch that the guard sees with it.
_CONTEXT = 4096
_FENCE = re.compile(r"```|~~~")
# What commands, markup and addresses are made of. Without any of it, a sentence cannot send anything.
_CODE = re.compile(r"[`<>|$={}\\]|://|www\.|^(?: {4}|\t)|\]\(", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?…:;][\"')\]»”]*[ \t]|[。！？]|\n")
_OPEN_TAG = re.compile(r"<(?:script|style|form|svg|object|iframe|a|img|[a-z][a-z0-9-]*\s)[^<]*\Z", re.IGNORECASE)
# An answer that is a JSON document, as structured outputs are.
_DOCUMENT = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\d-])")
_OPEN_BLOCK = re.compile(r"<(script|style|form|svg)\b(?!.*</\1)", re.IGNORECASE | re.DOTALL)


class Withheld(Exception):
    """The guard lets nothing more of the answer pass."""


@dataclass(slots=True)
class Guarded:
    """What all texts of an answer share: the rules, and the strictest of the actions taken so far.

    `detect` finds entities in a text that is complete; without it, new values are not searched for.
    """

    context: GuardContext
    rules: GuardDocument
    restore: RestoreDocument = field(default_factory=RestoreDocument)
    detect: Detect | None = None
    action: GuardAction = "pass"

    def verdict(self, pieces: Sequence[AnswerText]) -> Verdict:
        """Inspects pieces that are read together. Raises Withheld."""
        context = self.context
        if self.detect is not None:
            context = replace(context, entities=[self.detect(piece.text) for piece in pieces])
        verdict = inspect(pieces, context, self.rules)
        self.context.placeholders.forget_texts()
        self.action = max(self.action, verdict.action, key=("pass", "flag", "redact", "replace").index)
        if verdict.action == "replace":
            raise Withheld
        return verdict

    def whole(self, piece: AnswerText) -> str:
        """Guards and restores a text that is complete."""
        if piece.kind == "data" or (self.detect is None and not self.context.placeholders.find(piece.text)):
            return piece.text
        return self.restored(piece, self.verdict([piece]).redacted(0, piece.text))

    def restored(self, piece: AnswerText, text: str | None = None) -> str:
        """Restores a text as it came, or what the guard left of it."""
        left = piece.text if text is None else text
        return restored(piece, left, self.context.placeholders, self.context.scope, self.restore)


@dataclass(slots=True)
class Channel:
    """One growing text."""

    guarded: Guarded
    kind: Literal["text", "json", "data", "echo"] = "text"
    choice: int = 0
    tool: str | None = None
    hold: bool = False
    text: str = ""
    """All that arrived, protected as it came."""
    _passed: int = 0
    # A text may go on after its end, where another kind of content interrupted it. What clients show as one text is
    # guarded and restored as one: this is what the client got for the text up to `_given_to`.
    _given: str = ""
    _given_to: int = 0
    _has_ended: bool = False
    _held: bool = False
    _is_document: bool = False
    _restorer: StreamRestorer = field(init=False)

    def __post_init__(self) -> None:
        self._restorer = self._new_restorer()

    def _new_restorer(self) -> StreamRestorer:
        return StreamRestorer(self.guarded.context.placeholders, self.guarded.context.scope)

    @property
    def part(self) -> AnswerText:
        """All of it as the guard reads it."""
        return self._part(self.text)

    def feed(self, piece: str) -> str:
        """Adds a piece and returns the text that is ready. Raises Withheld."""
        if self._has_ended:
            self._has_ended = False
            self._restorer = self._new_restorer()
            self._restorer.skip(self.text[-_CONTEXT:])
        self.text += piece
        if self.kind == "data" or not (self.hold or self.guarded.context.placeholders):
            self._passed = len(self.text)
            return piece
        if self.hold:
            return ""
        if not self._passed:
            self._is_document = self.kind == "json" or _DOCUMENT.match(self.text) is not None
        return self._until_placeholder() if self._is_document else self._prose()

    def finish(self) -> str:
        """Ends the text, until more of it is fed, and returns the rest. Raises Withheld."""
        self._has_ended = True
        if self._is_document or self.kind == "json" or self.hold:
            return self._whole() if self._passed < len(self.text) else ""
        rest = self._decide(len(self.text)) if self._passed < len(self.text) else ""
        return rest + self._restorer.finish()

    def _prose(self) -> str:
        ready = ""
        while self._passed < len(self.text):
            if not self._held:
                start = self._first_placeholder()
                if start > self._passed:
                    ready += self._restorer.pass_text(self.text[self._passed : start])
                    self._passed = start
                if not self._held:
                    break
            end = self._end_of_stretch()
            if end is None:
                break
            ready += self._decide(end)
        return ready

    def _first_placeholder(self) -> int:
        """Returns where the first placeholder of what has not passed starts, or may start."""
        vocabulary = self.guarded.context.placeholders.vocabulary
        rest = self.text[self._passed :]
        end = open_end(rest, vocabulary)
        before = self.text[self._passed - 1 : self._passed]
        for hit in scan(rest, vocabulary, before=before):
            if hit.start < end and hit.placeholder[1:-1] in vocabulary.cores:
                self._held = True
                return self._passed + hit.start
        return self._passed + end

    def _end_of_stretch(self) -> int | None:
        """Returns the end of what the guard has to see at once, if it has arrived."""
        line = self.text.rfind("\n", 0, self._passed) + 1
        block = max(0, self._passed - _CONTEXT)
        fences = len(_FENCE.findall(self.text, 0, self._passed))
        if fences % 2:
            closing = _FENCE.search(self.text, self._passed)
            end = self.text.find("\n", closing.end()) if closing else -1
            return end + 1 if end >= 0 else None
        position = self._passed
        while (mark := _SENTENCE.search(self.text, position)) is not None:
            position = mark.end()
            head = self.text[line:position]
            if self.text[position - 1] != "\n" and _CODE.search(head):
                continue
            if _OPEN_TAG.search(head) or _OPEN_BLOCK.search(self.text, block, position):
                continue
            # The end must not cut what may still become a placeholder.
            vocabulary = self.guarded.context.placeholders.vocabulary
            if self._passed + open_end(self.text[self._passed : position], vocabulary) == position:
                return position
        return None

    def _decide(self, end: int) -> str:
        """Has the guard inspect the text up to `end` with what came before, and restores it."""
        start = max(0, self._passed - _CONTEXT)
        before, stretch = self.text[start : self._passed], self.text[self._passed : end]
        if self.guarded.context.placeholders.find(stretch):
            verdict = self.guarded.verdict([self._part(before), self._part(stretch)])
            stretch = verdict.redacted(1, stretch)
        self._passed, self._held = end, False
        return self._restorer.feed(stretch)

    def _part(self, text: str) -> AnswerText:
        name = "arguments" if self.kind == "json" else "text"
        return AnswerText(None, name, text, self.kind, self.choice, self.tool)

    def _until_placeholder(self) -> str:
        if self._held:
            return ""
        start = self._first_placeholder()
        ready, self._passed = self.text[self._passed : start], start
        return ready

    def _whole(self) -> str:
        head = self._given + self.text[self._given_to : self._passed]
        restored = self.guarded.whole(self._part(self.text))
        self._given, self._given_to, self._passed, self._held = restored, len(self.text), len(self.text), False
        if not restored.startswith(head):
            # The guard found something in what has already passed.
            raise Withheld
        return restored[len(head) :]
