"""Counting many words in one pass gives what counting each gives."""

import random
from collections import Counter

import pytest

from gateway.text.many_words import LONGEST, ManyWords


def occurrences(text: bytes, words: list[bytes]) -> Counter[bytes]:
    return Counter(word for word in words for at in range(len(text)) if text.startswith(word, at))


@pytest.mark.parametrize("seed", range(20))
def test_each_word_is_counted_within_and_across_others(seed: int) -> None:
    rng = random.Random(seed)
    words = list({bytes(rng.choices(b"abc", k=rng.randrange(2, 9))) for _ in range(rng.randrange(1, 60))})
    text = bytes(rng.choices(b"abcdefgh", k=9000))
    search = ManyWords()
    for number, word in enumerate(words):
        search.add(word)
        if rng.random() < 0.2:
            size = rng.choice((500, 2000, 5000))
            assert search.count(text[:size]) == occurrences(text[:size], words[: number + 1])
    assert search.count(text) == ManyWords(words).count(text) == occurrences(text, words)


def test_a_word_is_counted_once_wherever_a_stretch_ends() -> None:
    word = b"abcdefgh" * 4
    for before in range(4050, 4150):
        assert ManyWords([word]).count(b"." * before + word + b"." * 5000) == {word: 1}


def test_the_beginning_of_a_long_word_is_counted() -> None:
    word = b"0123456789" * 5
    assert ManyWords([word]).count(b"so " + word[:LONGEST] + b" it is") == {word[:LONGEST]: 1}


def test_no_words_are_nowhere() -> None:
    assert ManyWords().count(b"text") == {}


def test_too_many_occurrences_are_not_counted() -> None:
    assert ManyWords(b"a" * length for length in range(1, 20)).count(b"a" * 10_000) is None
