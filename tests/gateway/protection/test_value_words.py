"""A value that is not indexed for its own text, since its words are counted there, would not have been found either."""

import random
from collections.abc import Sequence
from itertools import accumulate

import pytest

from gateway.models import Action
from gateway.protection.known_values import KnownValues
from gateway.protection.name_spellings import accounts, parts_alone, respelled
from gateway.protection.value_words import Value, ValueWords
from gateway.text.fields import Span, Spans
from tests.call_counts import calls
from tests.tables import table

CASES = table(__file__)

VALUES = [(value, kind) for value, kind in CASES["values"]]
BETWEEN = (" ", " Anna ", " Berlin ", "", ", ", " and ", "\n", "x", "-", "7", " (", "@", "the letter ", ".Α")


def spelled(value: str, rng: random.Random) -> str:
    spellings = (
        *(value, value, value, value, value.upper(), value.lower(), value + value[-2:], "".join(value.split())),
        *(value.replace(" ", "_"), value.replace(" ", "\n"), value.split(maxsplit=1)[0], value.rsplit(maxsplit=1)[-1]),
        *("".join(f"%{byte:02X}" for byte in value.encode()), f"{value[:3]}*{value[3:]}", value[:-1], value[1:]),
        *(*respelled(value), *parts_alone(value), *accounts(value.lower().split())),
    )
    return rng.choice(spellings)


def text_of(values: list[tuple[str, str]], rng: random.Random) -> tuple[str, Spans]:
    """A text of spellings of values, of which some are found."""
    text, spans = "", list[Span]()
    for _ in range(rng.randrange(1, 8)):
        text += rng.choice(BETWEEN)
        value, kind = rng.choice(values)
        piece = spelled(value, rng)
        if rng.random() < (0.6 if piece == value else 0.1):
            spans.append(Span(len(text), len(text) + len(piece), kind, Action.PLACEHOLDER, 0.9, "test"))
        text += piece
    return text, tuple(spans)


def hidden(before: KnownValues, found: list[tuple[str, Spans]]) -> list[set[int]]:
    """Returns what is hidden in the texts of a block, except for what joins two words that are hidden apart."""
    known = KnownValues(before)
    known.add([text for text, _ in found], [spans for _, spans in found])
    result = []
    for text, spans in found:
        places = {at for span in known.repeats(text, spans) for at in range(span.start, span.end)}
        result.append({at for at in places if text[at].isalnum() or not {at - 1, at + 1} <= places})
    return result


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_values_left_out_of_the_index_are_nowhere_else(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = []
    for seed in range(part, 1600, 4):
        rng = random.Random(seed)
        values = rng.sample(VALUES, rng.randrange(1, 6))
        earlier = KnownValues()
        if rng.random() < 0.5:
            text, spans = text_of(values, rng)
            earlier.add([text], [spans])
        block = [text_of(values, rng) for _ in range(rng.randrange(1, 3))]
        cases.append((earlier, block, hidden(earlier, block)))
    asked = 0

    def elsewhere(_words: ValueWords, values: Sequence[Value], *_: object) -> Sequence[Value]:
        nonlocal asked
        asked += len(values)
        return values

    monkeypatch.setattr(ValueWords, "elsewhere", elsewhere)
    for earlier, block, seen in cases:
        assert all(full <= lazy for full, lazy in zip(hidden(earlier, block), seen, strict=True)), block
    assert asked > 200


def cost(texts: list[str], found: list[Spans], *more: str) -> int:
    """Counts the calls of a search of texts, with more after the last, for the values that were found in them."""
    known = KnownValues(KnownValues())
    known.add(texts, found)
    again = list[Spans]()
    searched = [*texts[:-1], "".join([texts[-1], *more])]
    count = calls(lambda: again.extend(map(known.repeats, searched, found)))
    assert again == found
    return count


def spans_of(values: list[str], kind: str) -> Spans:
    """Returns the places of values that are joined by spaces."""
    ends = [*accumulate(len(value) + 1 for value in values)]
    return tuple(
        Span(end - 1 - len(value), end - 1, kind, Action.PLACEHOLDER, 0.9, "test")
        for end, value in zip(ends, values, strict=True)
    )


def test_texts_of_many_values_do_not_cost_each_other() -> None:
    mails = [f"anna{number}@acme.example" for number in range(200)]
    found = [spans_of([mail], "EMAIL_ADDRESS") for mail in mails]
    assert cost(mails, found) < 2.5 * cost(mails[:100], found[:100])


def test_values_of_a_text_do_not_cost_each_other() -> None:
    names = [f"Anna{number:04} Schmidt" for number in range(400)]
    many, few = ([" ".join(each)] for each in (names, names[:200]))
    assert cost(many, [spans_of(names, "PERSON")]) < 2.5 * cost(few, [spans_of(names[:200], "PERSON")])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("PERSON", "Schmidt Anna Schmidt Anna Schmidt Anna Schmidt.", "Schmidt Anna Schmidt"),
        ("STREET_ADDRESS", "Berlin Mitte Berlin Mitte Berlin Mitte Berlin", "Berlin Mitte Berlin"),
        ("EMAIL_ADDRESS", "acme.joe@acme.joe@acme.joe@acme", "acme.joe@acme"),
    ],
)
def test_the_end_of_a_value_and_the_beginning_of_the_next_are_one(kind: str, text: str, value: str) -> None:
    places = (0, text.rindex(value))
    spans = tuple(Span(at, at + len(value), kind, Action.PLACEHOLDER, 0.9, "test") for at in places)
    (covered,) = hidden(KnownValues(), [(text, spans)])
    assert {at for at, char in enumerate(text) if char.isalnum()} <= covered


def test_the_beginning_of_a_name_found_from_its_middle_is_hidden() -> None:
    text = "Jo Schmidt. also x Jo Schmidt"
    spans = tuple(Span(at, end, "PERSON", Action.PLACEHOLDER, 0.9, "test") for at, end in ((0, 10), (20, 29)))
    (covered,) = hidden(KnownValues(), [(text, spans)])
    assert text.rindex("J") in covered


def test_values_that_begin_alike_do_not_cost_each_other() -> None:
    """The text is four times as long."""
    names = ["a" * length + "1" for length in range(10, 170)]
    many, few = " ".join(names) + " ", " ".join(names[:80]) + " "
    whole = cost([many], [spans_of(names, "USERNAME")], "a" * len(many))
    assert whole < 6 * cost([few], [spans_of(names[:80], "USERNAME")], "a" * len(few))
