"""Given names that stand alone: "Die Kollegin Wiebke vertritt Sören". Where every noun has a capital, the model takes
them for nouns; a name that is nothing but a name is believed as soon as the model has the least doubt.
"""

from collections.abc import Sequence
from itertools import pairwise

from gateway.detection.ner.ordinary_words import Words
from gateway.detection.ner.spans import Labelled

_DOUBT = 0.02
"""How likely the model must hold a person. Where it has no doubt at all (0.01 and less), most are no names there."""
_MORE_DOUBT = 0.05
_SCORE = 0.6
_SHORTEST = 3
_BEFORE = frozenset(" \t\r\n\u00a0\"'“”„«»‘’([,;:>*•–/")
_AFTER = _BEFORE - {"/"} | frozenset(")].!?<…|")


def with_names(
    text: str,
    offsets: Sequence[tuple[int, int]],
    labels: Sequence[Labelled],
    *,
    names: Words,
    ordinary: Words,
    person: int,
) -> list[Labelled]:
    """The labels, and `person` for words of `names` (in small letters) that are nothing yet, and for what may be the
    family name behind one who is called by the first name alone.
    """
    given = list(labels)
    for index in [index for index, (kind, _, _, odds) in enumerate(labels) if not kind and odds >= _DOUBT]:
        if given[index].kind:
            continue
        first, last = _word(text, offsets, index)
        start, end = offsets[first][0], offsets[last][1]
        if not any(one.kind for one in labels[first : last + 1]) and _is_given(text, start, end, names):
            given[first : last + 1] = [Labelled(person, at == first, _SCORE) for at in range(first, last + 1)]
    for last in [at for at, (one, other) in enumerate(pairwise(given)) if one.kind == person and not other.kind]:
        beyond = _family_name(text, offsets, given, last, ordinary)
        given[last + 1 : beyond + 1] = [Labelled(person, False, _SCORE) for _ in range(last, beyond)]
    return given


def _family_name(
    text: str, offsets: Sequence[tuple[int, int]], labels: Sequence[Labelled], last: int, ordinary: Words
) -> int:
    """The last token of the word behind a name, if that may be its family name; else the name's own."""
    start = offsets[last][1] + 1
    if offsets[last + 1][0] != start or text[start - 1] != " " or not text[start].isupper():
        return last
    _, beyond = _word(text, offsets, last + 1)
    word, end = labels[last + 1 : beyond + 1], offsets[beyond][1]
    doubtful = max(label.person for label in word) >= _MORE_DOUBT and not any(label.kind for label in word)
    whole = end == len(text) or text[end] in _AFTER
    return beyond if doubtful and whole and text[start:end].lower() not in ordinary else last


def _word(text: str, offsets: Sequence[tuple[int, int]], index: int) -> tuple[int, int]:
    """The first and the last token of the word to which one belongs."""
    first = last = index
    while first and offsets[first - 1][1] == offsets[first][0] and text[offsets[first][0] - 1].isalnum():
        first -= 1
    while last + 1 < len(offsets) and offsets[last][1] == offsets[last + 1][0] and text[offsets[last][1]].isalnum():
        last += 1
    return first, last


def _is_given(text: str, start: int, end: int, names: Words) -> bool:
    return (
        end - start >= _SHORTEST
        and text[start].isupper()
        and (not start or text[start - 1] in _BEFORE)
        and (end == len(text) or text[end] in _AFTER)
        and text[start:end].lower() in names
    )
