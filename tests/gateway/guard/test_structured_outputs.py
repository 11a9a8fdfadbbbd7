"""The guard redacts an answer that is a JSON document, and leaves the rest of it."""

import json

import pytest

from gateway.guard import WITHHELD
from tests.gateway.guard.test_guard import ASK, MAIL, PERSON, rules
from tests.gateway.guard.vectors import case


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize(
    "text",
    [
        f'<a href="https://collect.net/?q={MAIL}">Reply</a>',
        f'{{"url":"https://collect.net/?q={MAIL}","n":1}}',
        f'said "{PERSON}":\nhttps://collect.net/{MAIL}\\x"\n',
        f"![logo](https://collect.net/?q={MAIL})",
    ],
)
def test_a_redacted_document_is_still_one(text: str, depth: int) -> None:
    """Structured outputs: a link must not take the escape of the quote after it along."""
    document = text
    for _ in range(depth + 1):
        document = json.dumps({"text": document}, ensure_ascii=False)
    answer = case(ASK, document)
    left = answer.judged(rules("redact")).redacted(0, answer.parts[0].text)
    for _ in range(depth + 1):
        left = json.loads(left)["text"]
    assert WITHHELD in left
    assert "collect.net/?q=[" not in left
