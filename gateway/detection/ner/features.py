"""Encodes case and white space as `token_type_ids`.

The vocabulary is uncased and the tokenizer drops white space. Both help to tell a name from a word and a table cell
from a sentence. The token-type embedding, unused in an encoder of single texts, carries them.

    token_type = 3 * case + gap
    case: 0 no letter, 1 lower case, 2 only the first letter is a capital, 3 all capitals (two or more), 4 anything else
    gap:  0 directly after the previous token, 1 after white space, 2 after a line break or at the start of the text
"""

from collections.abc import Sequence

_GAPS = 3
_ADJACENT, _SPACED, _NEW_LINE = range(_GAPS)


def token_types(text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the token type for each offset pair (code points of `text`)."""
    types: list[int] = []
    previous = -1
    for start, end in offsets:
        if start == previous:
            gap = _ADJACENT
        elif previous < 0 or "\n" in text[previous:start]:
            gap = _NEW_LINE
        else:
            between = text[previous:start]
            gap = _ADJACENT if between.strip() == between else _SPACED
        piece = text[start:end]
        types.append(_GAPS * (1 if piece.isalpha() and piece.islower() else case_class(piece)) + gap)
        previous = end
    return types


def case_class(piece: str) -> int:
    """Returns the case class (0-4) of a token."""
    if piece.isalpha():
        if piece.islower():
            return 1
        if piece[0].isupper() and (len(piece) == 1 or piece[1:].islower()):
            return 2
    letters = [char for char in piece if char.isalpha()]
    if not letters:
        return 0
    upper = sum(map(str.isupper, letters))
    if upper == 0:
        return 1
    if upper == 1 and letters[0].isupper():
        return 2
    return 3 if upper == len(letters) else 4
