"""Guards and restores the texts of an answer: of one that has arrived as a whole, and of a stream as it arrives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gateway.guard import KINDS, GuardContext, Verdict, inspect
from gateway.guard.verdict import GuardAction
from gateway.http.strict_json import is_json
from gateway.models import Entity
from gateway.policy.document import GuardDocument, RestoreDocument
from gateway.text.answers import AnswerText

type Detect = Callable[[str], Sequence[Entity]]

CONTENT_FILTERED = "The answer was withheld by the privacy policy."

_RULES = {*KINDS.values()} - {"placeholder_in_url"}


class Withheld(Exception):
    """The guard lets nothing more of the answer pass."""


@dataclass
class AnswerGuard:
    """State that all texts of an answer share: the rules, and the strictest of the actions taken so far.

    `detect` finds entities in a text that is complete; without it, new values are not searched for.
    """

    context: GuardContext
    rules: GuardDocument
    restore: RestoreDocument = field(default_factory=RestoreDocument)
    detect: Detect | None = None
    action: GuardAction = "pass"

    @cached_property
    def reads_all(self) -> bool:
        """Whether the guard has to read more than placeholders with what is around them."""
        return self.detect is not None or not {"redact", "replace"}.isdisjoint(map(self.rules.of, _RULES))

    def inspect(self, texts: Sequence[AnswerText]) -> Verdict:
        """Inspects texts that are read together."""
        context = self.context
        if self.detect is not None:
            context = replace(context, entities=[self.detect(text.text) for text in texts])
        verdict = inspect(texts, context, self.rules)
        self.action = max(self.action, verdict.action, key=("pass", "flag", "redact", "replace").index)
        return verdict

    def verdict(self, pieces: Sequence[AnswerText]) -> Verdict:
        """Inspects pieces of a stream. Raises Withheld."""
        verdict = self.inspect(pieces)
        self.context.placeholders.forget_texts()
        if verdict.action == "replace":
            raise Withheld
        return verdict

    def whole(self, piece: AnswerText, *, passed: int = 0, before: AnswerText | None = None) -> str:
        """Guards and restores a text that is complete. The first `passed` characters have been sent as they came.

        `before` is the text that it follows. Raises Withheld.
        """
        if piece.kind == "data" or not (self.reads_all or self.context.placeholders.find(piece.text)):
            return piece.text
        pieces = [piece] if before is None else [before, piece]
        return self.restored(piece, self.verdict(pieces).redacted(len(pieces) - 1, piece.text, after=passed))

    def restored(self, text: AnswerText, content: str | None = None) -> str:
        """Restores a text as it came, or `content`, which is what the guard left of it, as the policy's rules allow."""
        content = text.text if content is None else content
        if text.kind == "data" or (text.kind == "json" and not self.restore.in_arguments_of(text.tool)):
            return content
        placeholders, scope = self.context.placeholders, self.context.scope
        if text.kind == "json":
            document = placeholders.restore_json(content, rules=scope).text
            if is_json(document):
                return document
        return placeholders.restore_answer(content, rules=scope).text
