"""Letters of scripts other than Latin, about which the transformer knows nothing and the student decides alone.

The vocabulary has some of these letters. A word with any other becomes one `[UNK]`, and where words are not separated,
as in Thai, a whole sentence does. The student gets a token for each of its characters instead, numbered by code point
in the slots that the vocabulary keeps unused; the transformer reads these as unknown.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.features import ADJACENT, GAPS, case_class
from gateway.detection.ner.windows import Tokens

_UNKNOWN = 100
"""The id of `[UNK]`."""
_FIRST_SLOT, _SLOTS = 104, 895
_LETTER = re.compile(r"[\u0370-\u1dff\u1f00-\u1fff\u2c00-\u2dff\u3005-\ud7ff\uf900-\ufffc\U00020000-\U0003ffff]")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def without_unknown(text: str, tokens: Tokens) -> Tokens:
    """Returns the tokens with one for each character of unknown words in other scripts."""
    if _UNKNOWN not in tokens.ids or not _LETTER.search(text):
        return tokens
    ids: list[int] = []
    types: list[int] = []
    offsets: list[tuple[int, int]] = []
    for id, kind, (start, end) in zip(tokens.ids, tokens.types, tokens.offsets, strict=True):
        if id != _UNKNOWN or not _LETTER.match(text, start):
            ids.append(id)
            types.append(kind)
            offsets.append((start, end))
            continue
        gap = kind % GAPS
        for at in range(start, end):
            ids.append(_FIRST_SLOT + ord(text[at]) % _SLOTS)
            types.append(GAPS * case_class(text[at]) + gap)
            offsets.append((at, at + 1))
            gap = ADJACENT
    return Tokens(ids, types, offsets)


def in_other_scripts(text: str, tokens: Tokens) -> NDArray[np.bool_]:
    """Returns which tokens begin with a letter of another script."""
    if text.isascii() or not _LETTER.search(text):
        return np.zeros(len(tokens), bool)
    return np.fromiter((_LETTER.match(text, start) is not None for start, _ in tokens.offsets), bool, len(tokens))


def known(ids: Sequence[int]) -> tuple[int, ...]:
    """Returns ids for the transformer, which has never seen the unused slots."""
    return tuple(_UNKNOWN if _FIRST_SLOT <= id < _FIRST_SLOT + _SLOTS else id for id in ids)


def is_spaced(char: str) -> bool:
    """Whether the script of a letter separates words."""
    return _UNSPACED.match(char) is None
