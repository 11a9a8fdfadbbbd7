"""The texts of an answer that grow piece by piece. Each is guarded and restored on its own.

Text passes as it arrives, but for an end that may still become a placeholder. From a placeholder on it is held to the
end of the sentence or line (in code, to the end of the block), so that the guard sees where the value would go. The
arguments of a tool call are held from their first placeholder to their end, since nothing runs half of a call.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Literal

from gateway.guard import GuardContext, Verdict, inspect
from gateway.guard.verdict import GuardAction
from gateway.http.strict_json import is_json
from gateway.models import Entity
from gateway.pipeline.streaming.code_blocks import CodeBlocks
from gateway.placeholders import StreamRestorer
from gateway.placeholders.matcher import open_end, scan
from gateway.policy.document import GuardDocument
from gateway.wires import AnswerText

type Detect = Callable[[str], Sequence[Entity]]

# Characters of text before a held stretch that the guard sees with it.
_CONTEXT = 4096
# What commands, markup and addresses are made of. Without any of it, a sentence cannot send anything.
_CODE = re.compile(r"[`<>|$={}\\]|://|www\.|^(?: {4}|\t)|\]\(", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?…:;][\"')\]»”]*[ \t]|[。！？]|\n")
# A line that gives something a name, by which lines after it may send it.
_STATEMENT = re.compile(r"^[ \t]*(?:[$#%>][ \t]+)?(?:\w+[ \t]+)?[$@]?\w+[ \t]*(?::|\+)?=[^=]", re.MULTILINE)
_OPEN_TAG = re.compile(r"<(?:script|style|form|svg|object|iframe|a|img|[a-z][a-z0-9-]*\s)[^<]*\Z", re.IGNORECASE)
# Elements that run or send what is elsewhere on a page.
_ACTIVE = re.compile(
    r"<(?:script|style|form|base|svg|iframe|object|embed|meta|link)(?![\w-])|<[a-z][^<>]{0,2000}[\s\"'/]on[a-z]{3,20}\s*=",
    re.IGNORECASE,
)
# The beginning of an element that may be such a one.
_BEGUN = re.compile(r"<(?:[a-z][a-z0-9]{0,10}|[a-z][a-z0-9-]{0,30}[\s/][^<>]{0,400})?\Z", re.IGNORECASE)
# A text that is a JSON document, as structured outputs are.
_DOCUMENT = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\d-])")
# What may end a stretch.
_ENDS = re.compile(r"[\s。！？]")


class Withheld(Exception):
    """The guard lets nothing more of the answer pass."""


@dataclass(slots=True)
class Guarded:
    """What all texts of an answer share: the rules, and the strictest of the actions taken so far.

    `detect` finds entities in a text that is complete; without it, new values are not searched for.
    """

    context: GuardContext
    rules: GuardDocument
    restores_arguments: bool = True
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
        placeholders, scope = self.context.placeholders, self.context.scope
        if piece.kind == "data" or (self.detect is None and not placeholders.find(piece.text)):
            return piece.text
        text = self.verdict([piece]).redacted(0, piece.text)
        if piece.kind == "json" and is_json(text):
            return placeholders.restore_json(text, rules=scope).text if self.restores_arguments else text
        return placeholders.restore_answer(text, rules=scope).text


class Channel:
    """One growing text. `hold` keeps it until it is complete."""

    __slots__ = (
        "_arrived",
        "_blocks",
        "_context",
        "_given",
        "_guarded",
        "_hold",
        "_is_document",
        "_pending",
        "_restorer",
        "_search",
        "_state",
        "choice",
        "kind",
    )

    def __init__(
        self,
        guarded: Guarded,
        kind: Literal["text", "json", "data"] = "text",
        choice: int = 0,
        hold: bool = False,  # noqa: FBT001, FBT002 - a member of what describes a stream
    ) -> None:
        self.kind = kind
        self.choice = choice
        self._guarded = guarded
        self._hold = hold
        self._is_document = kind == "json"
        self._restorer = StreamRestorer(guarded.context.placeholders, guarded.context.scope)
        # All that arrived, and what of it has passed, without what the guard removed.
        self._arrived: list[str] = []
        self._given: list[str] = []
        # The end of what has passed, and what has not.
        self._context = ""
        self._pending = StringIO()
        self._state: Literal["open", "held", "held to the end"] = "open"
        # The code blocks of what has passed, and where the search for the end of a stretch goes on.
        self._blocks = CodeBlocks()
        self._search: tuple[int, CodeBlocks] | None = None

    @property
    def part(self) -> AnswerText:
        """All of it as the guard reads it, protected as it came."""
        return self._part("".join(self._arrived))

    def feed(self, piece: str) -> str:
        """Adds a piece and returns the text that is ready. Raises Withheld."""
        self._arrived.append(piece)
        if self.kind == "data" or not (self._hold or self._guarded.context.placeholders):
            return piece
        self._pending.write(piece)
        if self._hold or self._state == "held to the end" or (self._state == "held" and not _ENDS.search(piece)):
            return ""
        pending = self._pending.getvalue()
        if not self._given and not self._is_document:
            self._is_document = _DOCUMENT.match(pending) is not None
        return self._until_placeholder(pending) if self._is_document else self._prose(pending)

    def finish(self) -> str:
        """Ends the text and returns the rest. Raises Withheld."""
        pending = self._pending.getvalue()
        self._keep("")
        if self._is_document or self._hold:
            return self._rest_of_document(pending) if pending else ""
        rest = self._decide(pending, "".join(self._given)) if pending else ""
        return rest + self._restorer.finish()

    def _prose(self, pending: str) -> str:
        ready = ""
        while pending:
            if self._state == "open":
                start = self._first_to_hold(pending)
                if start:
                    ready += self._restorer.pass_text(pending[:start])
                    self._pass(pending[:start])
                    pending = pending[start:]
                if self._state != "held":
                    break
            end = self._end_of_stretch(pending)
            if end is None:
                break
            ready += self._decide(pending[:end], self._context)
            pending, self._state, self._search = pending[end:], "open", None
        self._keep(pending)
        return ready

    def _keep(self, pending: str) -> None:
        self._pending = StringIO()
        self._pending.write(pending)

    def _pass(self, text: str, given: str | None = None) -> None:
        given = text if given is None else given
        self._given.append(given)
        self._blocks.add(text)
        self._context += given
        if len(self._context) > 2 * _CONTEXT:
            self._context = self._context[-_CONTEXT:]

    def _first_to_hold(self, pending: str) -> int:
        """Returns where the first placeholder of a text starts, or may start, or an element that sends or runs."""
        vocabulary = self._guarded.context.placeholders.vocabulary
        end = open_end(pending, vocabulary)
        if "<" in pending:
            begun = _BEGUN.search(pending)
            end = min(end, begun.start()) if begun else end
            for match in _ACTIVE.finditer(pending):
                if not self._is_code(pending[: match.start()]):
                    end = match.start()
                    self._state = "held to the end"
                    break
        for hit in scan(pending, vocabulary, before=self._context[-1:]):
            if hit.start < end and hit.placeholder[1:-1] in vocabulary.cores:
                self._state = "held"
                return hit.start
        return end

    def _is_code(self, head: str) -> bool:
        """Whether a text that follows what has passed ends in a code block."""
        blocks = self._blocks.copy()
        blocks.add(head)
        return blocks.is_open

    def _end_of_stretch(self, pending: str) -> int | None:
        """Returns the end of what the guard has to see at once, if it has arrived."""
        position, blocks = self._search or (0, self._blocks.copy())
        if blocks.is_open:
            end = blocks.closing(pending, position)
            self._search = pending.rfind("\n") + 1, blocks
            return end if end >= 0 else None
        line = self._context.rfind("\n") + 1
        before, text = self._context[line:], pending
        while (mark := _SENTENCE.search(text, position)) is not None:
            position = mark.end()
            self._search = position, blocks
            if self._may_end(before, text[:position]):
                return position
            if self._state == "held to the end":
                return None
        return None

    def _may_end(self, before: str, stretch: str) -> bool:
        """Whether a stretch may end. `before` is the beginning of the line in which it starts."""
        is_line = stretch.endswith("\n")
        if not is_line and _CODE.search(before + stretch):
            return False
        if is_line and not stretch.endswith("\n\n") and _STATEMENT.search(before + stretch):
            return False
        last = stretch.rfind("<")
        head = stretch[last:] if last >= 0 else before + stretch
        if _OPEN_TAG.search(head):
            return False
        if last >= 0 and _ACTIVE.search(stretch):
            self._state = "held to the end"
            return False
        # The end must not cut what may still become a placeholder.
        return open_end(stretch, self._guarded.context.placeholders.vocabulary) == len(stretch)

    def _decide(self, stretch: str, before: str) -> str:
        """Has the guard inspect a stretch with what came before, and restores it. Raises Withheld."""
        placeholders, given = self._guarded.context.placeholders, stretch
        if self._state == "held to the end" or placeholders.find(stretch):
            before = before[-_CONTEXT:] if self._state != "held to the end" else before
            verdict = self._guarded.verdict([self._part(before), self._part(stretch)])
            given = verdict.redacted(1, stretch)
            left = verdict.redacted(0, before)
            if left != before and len(placeholders.find(left)) < len(placeholders.find(before)):
                # The guard found a placeholder that has already been opened.
                raise Withheld
        self._pass(stretch, given)
        return self._restorer.feed(given)

    def _part(self, text: str) -> AnswerText:
        return AnswerText(None, "arguments" if self.kind == "json" else "text", text, self.kind, self.choice)

    def _until_placeholder(self, pending: str) -> str:
        if self._state != "open":
            return ""
        vocabulary = self._guarded.context.placeholders.vocabulary
        end = open_end(pending, vocabulary)
        for hit in scan(pending, vocabulary, before=self._context[-1:]):
            if hit.start < end and hit.placeholder[1:-1] in vocabulary.cores:
                end, self._state = hit.start, "held to the end"
                break
        self._pass(pending[:end])
        self._keep(pending[end:])
        return pending[:end]

    def _rest_of_document(self, pending: str) -> str:
        head = "".join(self._given)
        restored = self._guarded.whole(self._part(head + pending))
        if not restored.startswith(head):
            # The guard found something in what has already passed.
            raise Withheld
        return restored[len(head) :]
