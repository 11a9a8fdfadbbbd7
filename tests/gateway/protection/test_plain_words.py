"""A word that the name model takes for a name in few of its places is not hidden in the others; a name is."""

from collections import Counter
from secrets import token_bytes

from hypothesis import given
from hypothesis import strategies as st

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.models import NAME_MODEL, Action, PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.registry import PolicyRegistry
from gateway.protection.known_values import KnownValues, _in_sentences
from gateway.protection.protector import Protector
from gateway.text.fields import Span, TextField

PROSE = "the delta grows, so we read each delta (that delta, too), then the delta of it. A delta! is a delta?"


def named(at: int, recognizer: str) -> Span:
    return Span(at, at + 5, "PERSON", Action.PLACEHOLDER, 0.9, recognizer)


def repeated(text: str, word: str, taken: int, recognizer: str = NAME_MODEL) -> int:
    """In how many places a word is hidden, if it was taken for a person's name in the first `taken` of them."""
    starts = [at for at in range(len(text)) if text.startswith(word, at)]
    spans = tuple(Span(at, at + len(word), "PERSON", Action.PLACEHOLDER, 0.9, recognizer) for at in starts[:taken])
    known = KnownValues()
    known.add([text], [spans])
    return len(known.repeats(text, spans))


def test_a_word_is_not_hidden_everywhere_for_being_taken_for_a_name_once() -> None:
    assert repeated(PROSE, "delta", 1) == 1
    assert repeated(PROSE, "delta", 2) == 6
    assert repeated(PROSE.replace("delta", "Delta"), "Delta", 1) == 6


def test_places_outside_sentences_say_nothing_against_a_name() -> None:
    text = "wiebke said so\n" + "".join(f"~wiebke/{number}.txt wiebke@host\n" for number in range(9))
    assert repeated(text, "wiebke", 1) == 19


def test_a_name_that_a_recognizer_found_is_hidden_everywhere() -> None:
    assert repeated(PROSE, "delta", 1, "person.announced") == 6
    known, spans = KnownValues(), [named(0, NAME_MODEL), named(6, "person.announced")]
    known.add(["delta delta" + " delta" * 20], [spans])
    assert len(known.repeats("a delta", ())) == 1
    text = f"my name is quorra. {'then quorra said that quorra can wait. ' * 4}"
    holder = {"text": text}
    protector = Protector(builtin_detector(), hash_key=bytes(32))
    policy = PolicyRegistry(BUILTIN_POLICIES).get("default")
    protector.protect([[TextField(holder, "text", text)]], policy, PrivacyMode.STANDARD, Placeholders(token_bytes(32)))
    assert "quorra" not in holder["text"]


@given(st.text(alphabet="ab \n.,(_1", max_size=80), st.sets(st.text(alphabet="ab", min_size=1, max_size=3), max_size=8))
def test_words_are_counted_alike_one_by_one_and_in_one_pass(text: str, words: set[str]) -> None:
    others = {f"c{number:x}" for number in range(100)}
    assert Counter(_in_sentences(text, words)) == Counter(_in_sentences(text, words | others))
