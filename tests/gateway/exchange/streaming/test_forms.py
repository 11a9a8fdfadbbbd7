"""Forms of placeholders in a streamed text: what opens in the whole opens however it is cut, and nothing else does."""

import random
from collections.abc import Iterator

import pytest

from gateway.exchange.answer_guard import AnswerGuard
from gateway.exchange.streaming.channels import Channel
from gateway.guard import GuardContext
from gateway.placeholders import Placeholders, RestoreScope
from gateway.placeholders.grammar import ALPHABET
from gateway.policy.document import GuardDocument
from gateway.text.answers import AnswerText
from tests.chunkings import CHUNKINGS
from tests.gateway.placeholders.conftest import Session
from tests.gateway.placeholders.test_forms import FORMS, forms

from .support import in_random_pieces

SESSION = Session()
BRACKETS = (("[", "]"), ("<", ">"), ("`", "`"), ("«", "»"), ("{", "}"), ("\\[", "\\]"), ("", ""))
SEPARATORS = ("_", "_", "_", " ", "-", "\\_", "&#95;")
FOREIGN = ("CUSTOMER", "IBAN_CODE", "MAIL", "ADDRESS", "STREET_NAME", "PASSWORD")


def unguarded(placeholders: Placeholders) -> AnswerGuard:
    rules = GuardDocument.model_validate(dict.fromkeys(GuardDocument.model_fields, "off"))
    return AnswerGuard(GuardContext(placeholders, RestoreScope("source"), b"{}", {}), rules)


def streamed(text: str, chance: random.Random, most: int) -> str:
    channel = Channel(unguarded(SESSION.placeholders))
    return "".join([*map(channel.feed, in_random_pieces(text, chance, most)), channel.finish()])


@pytest.mark.slow
@pytest.mark.parametrize(("text", "want"), FORMS + forms("untouched.json"))
def test_a_form_in_random_pieces(text: str, want: str) -> None:
    chance = random.Random(text)
    sent, expected = SESSION.protected(text), SESSION.expected(want)
    assert unguarded(SESSION.placeholders).whole(AnswerText(None, "text", sent)) == expected
    for _ in range(CHUNKINGS // 5):
        assert streamed(sent, chance, 12) == expected


def look_alikes(chance: random.Random) -> Iterator[str]:
    """Texts that differ from a placeholder of the session in its tag or its type, in any of its forms."""
    other = Placeholders(b"o" * 32)
    cores = sorted(SESSION.placeholders.vocabulary.cores)
    while True:
        kind, _, tag = chance.choice(cores).rpartition("_")
        at = chance.randrange(len(tag))
        match chance.randrange(9):
            case 0:
                tag = tag[:at] + chance.choice(ALPHABET.replace(tag[at], "")) + tag[at + 1 :]
            case 1:
                tag = tag[:at] + tag[at + 1 :]
            case 2:
                tag += chance.choice(ALPHABET)
            case 3:
                tag = "".join(chance.choices(ALPHABET, k=5))
            case 4:
                tag = str(chance.randrange(1000))
            case 5:
                kind = chance.choice(FOREIGN)
            case 6:
                kind = chance.choice([each for each in SESSION.placeholders.vocabulary.types if each != kind])
            case 7:
                kind = chance.choice("XÉя7") + kind
            case _:
                tag = other.mint(kind, str(at))[1:-1].rpartition("_")[2]
        if f"{kind}_{tag}" in cores:
            continue
        core = chance.choice(SEPARATORS).join([*kind.split("_"), tag])
        left, right = chance.choice(BRACKETS)
        yield left + chance.choice((str, str, str.lower, str.title))(core) + right


@pytest.mark.slow
def test_look_alikes_stay_as_they_are() -> None:
    chance = random.Random(14)
    written = look_alikes(chance)
    for _ in range(1000):
        text = "; ".join(next(written) for _ in range(10))
        done = SESSION.placeholders.restore(text, rules=RestoreScope("always"))
        assert (done.text, done.resolved) == (text, 0)
        assert streamed(text, chance, 40) == text
