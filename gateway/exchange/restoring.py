"""Restores one text of an answer."""

from gateway.http.strict_json import is_json
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.document import RestoreDocument
from gateway.wires import AnswerText


def restored(
    text: AnswerText, content: str, placeholders: Placeholders, scope: RestoreScope, rules: RestoreDocument
) -> str:
    """Returns `content`, which is what the guard left of `text`, restored as the rules of the policy allow."""
    if text.kind == "data" or (text.kind == "json" and not rules.in_arguments_of(text.tool)):
        return content
    if text.kind == "json" and is_json(content):
        return placeholders.restore_json(content, rules=scope).text
    return placeholders.restore_answer(content, rules=scope).text
