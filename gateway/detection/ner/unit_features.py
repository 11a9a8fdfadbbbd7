"""The features of units, by which the student knows words: how they are numbered, and the kinds of characters."""

import re
from itertools import accumulate
from unicodedata import category, normalize

SPACE, BREAK, SIGN, DIGIT, MARK, UNSPACED, LOWER, UPPER, UNCASED = range(9)
FIRST_LETTER = LOWER
BEYOND = 0x10000
"""Characters from here on are classified as one class, except for the ideographs of planes 2 and 3."""
IDEOGRAPHS_BEYOND = range(0x20000, 0x40000)

SIZES = {"word": 1 << 16, "stem": 1 << 14, "prefix": 1 << 13, "suffix": 1 << 13, "ending": 1 << 11, "form": 1 << 11}
ROWS = sum(SIZES.values())
"""Rows of the student's table."""
FEATURES = len(SIZES)
FIRST_ROW = dict(zip(SIZES, accumulate(SIZES.values(), initial=0), strict=False))
FIRST_FORM = FIRST_ROW["form"]
"""The row of the first form; a form's number modulo `GAPS` is the class of the white space before the unit."""
SHIFTS = {name: 65 - size.bit_length() for name, size in SIZES.items()}
"""The upper bits of a product depend on all bits of the number."""

PRIME = 0x9E3779B97F4A7C15
HALF, OTHER_HALF = 29, 31
LENGTH_CLASSES = (0, 0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7)
STEM = 5
STYLED = range(0x1D400, 0x1D800)
"""The mathematical letters and digits."""
_FULL_WIDTH = range(0xFF10, 0xFF5B)
_UNSPACED_SCRIPTS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
GAPS = 6
ADJACENT, _SPACED, _WIDE, NEW_LINE, _INDENTED, _PARAGRAPH = range(GAPS)
"""Classes of the white space before a unit; the last part of the feature `form`."""
# By the kind of the first character, and how many letters are capitals: none, some, one, all, the only one.
CASES = ((0,) * 5, (0,) * 5, (0,) * 5, (1,) * 5, (0,) * 5, (2,) * 5, (4, 7, 7, 6, 8), (4, 7, 5, 6, 8), (3,) * 5)
# By width (none, one, more), line breaks (none, one, more), and whether a space is the last of it.
WHITE = (
    ((ADJACENT,) * 2,) * 3,
    ((_SPACED,) * 2, (NEW_LINE, _INDENTED), (_PARAGRAPH,) * 2),
    ((_WIDE,) * 2, (NEW_LINE, _INDENTED), (_PARAGRAPH,) * 2),
)
LENGTHS, LISTS = 8, 4
"""Classes of length and of membership in the lists, which the feature `form` holds as well."""


def kind(char: str) -> int:
    """Returns the kind of a character before `BEYOND`."""
    if ord(char) in _FULL_WIDTH and char.isalnum():
        char = normalize("NFKC", char)
    if char.isspace():
        return BREAK if char in "\n\r\v\f\x85\u2028\u2029" else SPACE
    if char.isalpha():
        if not is_spaced(char):
            return UNSPACED
        return UPPER if char.isupper() or char.istitle() else LOWER if char.islower() else UNCASED
    if char.isdigit() or char.isnumeric():
        return DIGIT if is_spaced(char) else UNSPACED
    return MARK if category(char)[0] == "M" else SIGN


def lowercase(char: str) -> int:
    """Returns the code point of a character before `BEYOND` in lower case, where that is one character, plus one."""
    if ord(char) in _FULL_WIDTH and char.isalnum():
        char = normalize("NFKC", char)
    small = char.lower()
    return 1 + ord(small if len(small) == 1 and ord(small) < BEYOND else char)


def is_spaced(char: str) -> bool:
    """Returns whether the script of a letter separates words."""
    return _UNSPACED_SCRIPTS.match(char) is None


def plain(char: str) -> str:
    """Returns the plain form of a mathematical letter or digit."""
    simple = normalize("NFKC", char)
    return simple if len(simple) == 1 else char
