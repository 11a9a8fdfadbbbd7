"""Labels given names without a family name: "Die Kollegin Wiebke vertritt Sören".

In languages that capitalize nouns, the model takes such names for nouns. A word that is only ever a name is labelled as
soon as the model considers a person barely possible.
"""

from collections.abc import Mapping, Sequence

from gateway.detection.ner.ordinary_words import WordList
from gateway.detection.ner.spans import TokenLabel

MIN_PERSON = 0.02
"""Minimum probability of a person. At 0.01 and below, most words are not used as names."""
_MIN_FAMILY_NAME = 0.05
_SCORE = 0.6
_SHORTEST = 3
_BEFORE = frozenset(" \t\r\n\u00a0\"'“”„«»‘’([,;:>*•–/")
_AFTER = _BEFORE - {"/"} | frozenset(")].!?<…|")


def label_given_names(
    text: str,
    offsets: Sequence[tuple[int, int]],
    labels: Mapping[int, TokenLabel],
    *,
    names: WordList,
    ordinary: WordList,
    person: int,
) -> dict[int, TokenLabel]:
    """Returns the labels, with `person` for unlabelled words in `names` (lower case) and for family names after a
    given name.

    `labels` are those of the tokens that have one or may be a person, in order.
    """
    result = dict(labels)
    last = -1
    for index, label in labels.items():
        if label.label_class or label.person < MIN_PERSON or index <= last:
            continue
        first, last = _word(text, offsets, index)
        start, end = offsets[first][0], offsets[last][1]
        if not _is_labelled(labels, first, last) and _is_given(text, start, end, names):
            result |= {at: TokenLabel(person, at == first, _SCORE) for at in range(first, last + 1)}
    for last in [at for at, one in result.items() if one.label_class == person and not _is_labelled(result, at + 1)]:
        word_end = _family_name(text, offsets, result, last, ordinary)
        result |= {at: TokenLabel(person, False, _SCORE) for at in range(last + 1, word_end + 1)}
    return dict(sorted(result.items())) if len(result) > len(labels) else result


def _is_labelled(labels: Mapping[int, TokenLabel], first: int, last: int | None = None) -> bool:
    """Whether any of the tokens `first` to `last` has a label."""
    return any(at in labels and labels[at].label_class for at in range(first, (first if last is None else last) + 1))


def _family_name(
    text: str, offsets: Sequence[tuple[int, int]], labels: Mapping[int, TokenLabel], last: int, ordinary: WordList
) -> int:
    """Returns the last token of the word after a name if that may be its family name, else `last`."""
    if last + 1 == len(offsets):
        return last
    start = offsets[last][1] + 1
    if offsets[last + 1][0] != start or text[start - 1] != " " or not text[start].isupper():
        return last
    _, word_end = _word(text, offsets, last + 1)
    word, end = [labels[at] for at in range(last + 1, word_end + 1) if at in labels], offsets[word_end][1]
    possible = any(label.person >= _MIN_FAMILY_NAME for label in word) and not any(label.label_class for label in word)
    whole = end == len(text) or text[end] in _AFTER
    return word_end if possible and whole and text[start:end].lower() not in ordinary else last


def _word(text: str, offsets: Sequence[tuple[int, int]], index: int) -> tuple[int, int]:
    """Returns the first and last token of the word that contains token `index`."""
    first = last = index
    while first and offsets[first - 1][1] == offsets[first][0] and text[offsets[first][0] - 1].isalnum():
        first -= 1
    while last + 1 < len(offsets) and offsets[last][1] == offsets[last + 1][0] and text[offsets[last][1]].isalnum():
        last += 1
    return first, last


def _is_given(text: str, start: int, end: int, names: WordList) -> bool:
    return (
        end - start >= _SHORTEST
        and text[start].isupper()
        and (not start or text[start - 1] in _BEFORE)
        and (end == len(text) or text[end] in _AFTER)
        and text[start:end].lower() in names
    )
