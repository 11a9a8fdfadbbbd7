"""Given names that stand alone: "Die Kollegin Wiebke vertritt Sören". Where every noun has a capital, the model takes
them for nouns; a name that is nothing but a name is believed as soon as the model has the least doubt.
"""

from collections.abc import Sequence

from gateway.detection.names.ordinary import Words
from gateway.detection.names.spans import Labelled

_DOUBT = 0.02
"""How likely the model must hold a person. Where it has no doubt at all (0.01 and less), most are no names there."""
_SCORE = 0.6
_SHORTEST = 3
_BEFORE = frozenset(" \t\r\n\u00a0\"'“”„«»‘’([,;:>*•–/")
_AFTER = _BEFORE - {"/"} | frozenset(")].!?<…|")


def with_given_names(
    text: str, offsets: Sequence[tuple[int, int]], labels: Sequence[Labelled], names: Words, *, person: int
) -> list[Labelled]:
    """The labels, and `person` for words of `names` (in small letters) that are nothing yet."""
    given = list(labels)
    for index in [index for index, (kind, _, _, odds) in enumerate(labels) if not kind and odds >= _DOUBT]:
        if given[index].kind:
            continue
        first, last = _word(text, offsets, index)
        start, end = offsets[first][0], offsets[last][1]
        if not any(one.kind for one in labels[first : last + 1]) and _is_given(text, start, end, names):
            last = _with_family_name(text, offsets, labels, last)
            given[first : last + 1] = [Labelled(person, at == first, _SCORE) for at in range(first, last + 1)]
    return given


def _with_family_name(text: str, offsets: Sequence[tuple[int, int]], labels: Sequence[Labelled], last: int) -> int:
    """The last token of the word after it, if that may be a family name; else its own."""
    start = offsets[last][1] + 1
    if last + 1 == len(offsets) or offsets[last + 1][0] != start or text[start - 1] != " " or not text[start].isupper():
        return last
    _, beyond = _word(text, offsets, last + 1)
    word = labels[last + 1 : beyond + 1]
    doubtful = max(label.person for label in word) >= _DOUBT and not any(label.kind for label in word)
    return beyond if doubtful else last


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
