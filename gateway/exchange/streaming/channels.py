"""The texts of an answer that grow piece by piece. Each is guarded and restored on its own.

Text passes as it arrives, but for an end that may still become a placeholder. From a placeholder on it is held to the
end of the sentence or line (in code, to the end of the block), so that the guard sees where the value would go. Outside
of code, a script, a form or the like is held with all that follows, since it can send what is elsewhere in the text.
The arguments of a tool call are held from their first placeholder to their end, since nothing runs half of a call.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from gateway.exchange.answer_guard import AnswerGuard, Withheld
from gateway.exchange.streaming.code_blocks import CodeBlocks
from gateway.placeholders import StreamRestorer
from gateway.placeholders.matcher import open_end, scan
from gateway.text.answers import AnswerText

type _State = Literal["open", "held", "held to the end"]

# Characters of text before a held stretch that the guard sees with it.
_CONTEXT = 4096
# Characters after which the end of a stretch is no longer searched for, but in code blocks.
_LONGEST = 4 * _CONTEXT
# Signs of commands, markup and addresses. Without any of them, a sentence cannot send anything.
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
# Characters that may end a stretch.
_ENDS = re.compile(r"[\s。！？]")


@dataclass(slots=True)
class Channel:
    """One growing text. `hold` keeps it until it is complete."""

    guarded: AnswerGuard
    kind: Literal["text", "json", "data", "echo"] = "text"
    choice: int = 0
    tool: str | None = None
    hold: bool = False
    _arrived: list[str] = field(default_factory=list)
    # The text that the guard left of the part that has passed; for a document, the text that the client got.
    _given: list[str] = field(default_factory=list)
    # The end of the text before this one, that of what has passed, and what has not.
    _before: str = ""
    _context: str = ""
    _pending: list[str] = field(default_factory=list)
    _state: _State = "open"
    _is_document: bool = False
    # Characters of a document that have passed as they came.
    _passed: int = 0
    # A text may go on after its end, where another kind of content interrupted it. What clients show as one text is
    # guarded and restored as one.
    _has_ended: bool = False
    # The code blocks of what has passed, and where the search for the end of a stretch continues.
    _blocks: CodeBlocks = field(default_factory=CodeBlocks)
    _search: tuple[int, CodeBlocks] | None = None
    _restorer: StreamRestorer = field(init=False)

    def __post_init__(self) -> None:
        self._is_document = self.kind == "json"
        self._restorer = self._new_restorer()

    def _new_restorer(self) -> StreamRestorer:
        return StreamRestorer(self.guarded.context.placeholders, self.guarded.context.scope)

    @property
    def text(self) -> str:
        """All of it, protected as it came."""
        return "".join(self._arrived)

    @property
    def part(self) -> AnswerText:
        """All of it as the guard reads it."""
        return self._part(self.text)

    def follow(self, before: "Channel") -> None:
        """Has the guard read the text after another one, with which a client shows it as one."""
        self._before = self._context = before._context[-_CONTEXT:]
        self._restorer.skip(self._context)

    def feed(self, piece: str) -> str:
        """Adds a piece and returns the text that is ready. Raises Withheld."""
        if self._has_ended:
            self._has_ended = False
            self._restorer = self._new_restorer()
            self._restorer.skip(self._context[-_CONTEXT:])
        self._arrived.append(piece)
        if self.kind == "data" or not (self.hold or self.guarded.reads_all or self.guarded.context.placeholders):
            return piece
        self._pending.append(piece)
        if self.hold or self._state == "held to the end" or (self._state == "held" and not _ENDS.search(piece)):
            return ""
        pending = "".join(self._pending)
        if not self._given and not self._is_document:
            self._is_document = _DOCUMENT.match(pending) is not None
        return self._until_placeholder(pending) if self._is_document else self._prose(pending)

    def finish(self) -> str:
        """Ends the text, until more of it is fed, and returns the rest. Raises Withheld."""
        self._has_ended = True
        pending = "".join(self._pending)
        self._pending.clear()
        if self._is_document or self.hold:
            rest = self._rest_of_document() if pending else ""
        else:
            rest = self._decide(pending) if pending else ""
            rest += self._restorer.finish()
        self._state, self._search = "open", None
        return rest

    def _prose(self, pending: str) -> str:
        ready = ""
        while pending:
            if self._state == "open":
                start, self._state = self._first_to_hold(pending)
                if start:
                    ready += self._restorer.pass_text(pending[:start])
                    self._pass(pending[:start])
                    pending = pending[start:]
            if self._state != "held":
                break
            end = self._end_of_stretch(pending)
            if end is None:
                break
            ready += self._decide(pending[:end])
            pending, self._state, self._search = pending[end:], "open", None
        self._pending = [pending]
        return ready

    def _pass(self, text: str, given: str | None = None) -> None:
        given = text if given is None else given
        self._given.append(given)
        self._blocks.add(text)
        self._context += given
        if len(self._context) > 2 * _CONTEXT:
            self._context = self._context[-_CONTEXT:]

    def _first_to_hold(self, pending: str) -> tuple[int, _State]:
        """Returns up to where a text passes, and the state from there on."""
        end, state = self._first_placeholder(pending)
        if "<" in pending:
            for match in _ACTIVE.finditer(pending, 0, end):
                if not self._is_code(pending[: match.start()]):
                    return match.start(), "held to the end"
            begun = _BEGUN.search(pending)
            end = min(end, begun.start()) if begun and state == "open" else end
        return end, state

    def _first_placeholder(self, pending: str) -> tuple[int, _State]:
        if self.guarded.reads_all:
            return 0, "held"
        vocabulary = self.guarded.context.placeholders.vocabulary
        end = open_end(pending, vocabulary)
        for hit in scan(pending, vocabulary, before=self._context[-1:]):
            if hit.start < end and hit.placeholder[1:-1] in vocabulary.cores:
                return hit.start, "held"
        return end, "open"

    def _is_code(self, head: str) -> bool:
        """Whether a text that follows what has passed ends in a code block."""
        blocks = self._blocks.copy()
        blocks.add(head)
        return blocks.is_open

    def _end_of_stretch(self, pending: str) -> int | None:
        """Returns the end of what the guard has to see at once, if it has arrived."""
        position, blocks = self._search or (0, self._blocks.copy())
        before = self._context[self._context.rfind("\n") + 1 :]
        while not blocks.is_open and (mark := _SENTENCE.search(pending, position)) is not None:
            blocks.add(pending[position : mark.end()])
            position = mark.end()
            self._search = position, blocks
            if not blocks.is_open and self._may_end(before, pending[:position]):
                return position
            if self._state == "held to the end":
                return None
        if blocks.is_open:
            end = blocks.closing(pending, position)
            self._search = max(position, pending.rfind("\n") + 1), blocks
            return end if end >= 0 else None
        if len(pending) > _LONGEST:
            self._state = "held to the end"
        return None

    def _may_end(self, before: str, stretch: str) -> bool:
        """Whether a stretch may end. `before` is the beginning of the line in which it starts."""
        is_line = stretch.endswith("\n")
        if not is_line and _CODE.search(before + stretch):
            return False
        if is_line and not stretch.endswith("\n\n") and _STATEMENT.search(before + stretch):
            return False
        last = stretch.rfind("<")
        if last >= 0 and _ACTIVE.search(stretch):
            self._state = "held to the end"
            return False
        if _OPEN_TAG.search(stretch[last:] if last >= 0 else before + stretch):
            return False
        # The end must not cut what may still become a placeholder.
        return open_end(stretch, self.guarded.context.placeholders.vocabulary) == len(stretch)

    def _decide(self, stretch: str) -> str:
        """Has the guard inspect a stretch with what came before, and restores it. Raises Withheld."""
        placeholders, given = self.guarded.context.placeholders, stretch
        is_rest = self._state == "held to the end"
        if is_rest or self.guarded.reads_all or placeholders.find(stretch):
            before = "".join(self._given) if is_rest else self._context[-_CONTEXT:]
            verdict = self.guarded.verdict([self._part(before), self._part(stretch)])
            given = verdict.redacted(1, stretch)
            left = verdict.redacted(0, before)
            if left != before and len(placeholders.find(left)) < len(placeholders.find(before)):
                # The guard found a placeholder that has already been opened.
                raise Withheld
        self._pass(stretch, given)
        return self._restorer.feed(given)

    def _part(self, text: str) -> AnswerText:
        name = "arguments" if self.kind == "json" else "text"
        return AnswerText(None, name, text, self.kind, self.choice, self.tool)

    def _until_placeholder(self, pending: str) -> str:
        if self._state != "open":
            return ""
        end, state = self._first_placeholder(pending)
        self._state = "held to the end" if state == "held" else state
        self._pass(pending[:end])
        self._passed += end
        self._pending = [pending[end:]]
        return pending[:end]

    def _rest_of_document(self) -> str:
        head = "".join(self._given)
        before = self._part(self._before) if self._before else None
        whole = self.guarded.whole(self.part, passed=self._passed, before=before)
        self._given, self._passed = [whole], 0
        self._context += "".join(self._arrived)[-_CONTEXT:]
        if not whole.startswith(head):
            # The guard found something in what has already passed.
            raise Withheld
        return whole[len(head) :]
