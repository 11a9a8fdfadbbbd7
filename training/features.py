"""The model's inputs besides word pieces: case and gap, folded into ``token_type_ids``.

The vocabulary of the base encoder is uncased and its pre-tokenizer throws white space away. Both tell a name from a
word and a table cell from a sentence, so they return through the token-type embedding, which the base leaves free.

    token_type = 3 * case + gap
    case: 0 no letter · 1 lower case · 2 capital first, then none · 3 capitals only (two or more) · 4 anything else
    gap:  0 glued to the token before · 1 white space before · 2 a line break (or the start of the text) before

Both are computed from the token's own characters in the text as it was given (``text[start:end]``, code points).
"""

from collections.abc import Iterable, Sequence

CASES = 5
GAPS = 3
TOKEN_TYPES = CASES * GAPS

TYPES = (
    "PERSON",
    "LOCATION",
    "ADDRESS",
    "ORGANIZATION",
    "DATE_OF_BIRTH",
    "AGE",
    "USERNAME",
    "MEDICAL_RECORD",
    "ID",
)
LABELS = ("O", *(f"{prefix}-{name}" for name in TYPES for prefix in "BI"))
LABEL_INDEX = {label: index for index, label in enumerate(LABELS)}
IGNORED = -100

Span = tuple[int, int, str]


def case_class(piece: str) -> int:
    """The case class (0-4) of a token's characters."""
    letters = [c for c in piece if c.isalpha()]
    if not letters:
        return 0
    upper = sum(c.isupper() for c in letters)
    if upper == 0:
        return 1
    if upper == 1 and letters[0].isupper():
        return 2
    if upper == len(letters):
        return 3
    return 4


def token_types(text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """One token type per offset pair; empty pairs (special tokens) are 0."""
    types: list[int] = []
    previous = -1
    for start, end in offsets:
        if end <= start:
            types.append(0)
            continue
        if previous < 0:
            gap = 2
        elif start <= previous:
            gap = 0
        else:
            between = text[previous:start]
            gap = 2 if "\n" in between else 1 if between.strip() != between else 0
        types.append(GAPS * case_class(text[start:end]) + gap)
        previous = end
    return types


def bio(
    offsets: Sequence[tuple[int, int]], spans: Iterable[Span], ignored: Iterable[tuple[int, int]] = ()
) -> list[int]:
    """Label indices per token: a token belongs to the span that it touches; special tokens are ignored."""
    labels = [IGNORED if end <= start else 0 for start, end in offsets]
    for start, end, name in spans:
        first = True
        for index, (left, right) in enumerate(offsets):
            if right > left and left < end and right > start:
                labels[index] = LABEL_INDEX[("B-" if first else "I-") + name]
                first = False
    for start, end in ignored:
        for index, (left, right) in enumerate(offsets):
            if right > left and left < end and right > start and labels[index] == 0:
                labels[index] = IGNORED
    return labels
