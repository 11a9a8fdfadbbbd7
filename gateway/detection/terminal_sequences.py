r"""Hides terminal control sequences, such as those for colours, from a search (ECMA-48, XTerm Control Sequences).

Their escape character may be written out (`\033[32m`, `\x1b[32m`, `^[[32m`, `#033[32m`), or lost (`[32m`).
"""

import re

HIDDEN = "\ufdd1"
"""A Unicode noncharacter, in place of each character that does not count."""
# Only the first backslash of a row begins a match, which keeps the search linear.
_ESCAPE = r"(?:[\x1b\u241b]|\^\[|#033|(?<!\\)\\+(?:033|[eE]|x(?:1[bB]|\{1[bB]\})|u(?:001[bB]|\{1[bB]\})))"
# The rest of a sequence that lost its escape character, and the rest of any other.
_LOST = re.compile(r"\[\d{1,3}(?:;\d{1,3})*[mK](?!\])")
# The cursor's moves separate words, and so do the ends of the text in a sequence, such as the address of a link. The
# expression begins with what any sequence begins with, since most characters begin none.
_SEQUENCE = re.compile(
    r"(?=[\x1b\x07\x9b\x9c\u241b^#\\\[])"
    rf"(?:(?:{_ESCAPE}\[|\x9b)[0-?]{{0,64}}[ -/]{{0,4}}(?:[@I-eg-~]|(?P<moves>[A-Hf]))"
    rf"|{_LOST.pattern}"
    rf"|(?P<text>{_ESCAPE}(?:\](?:8;[^;\x00-\x1f\\^]{{0,99}};|\d{{1,4}};)|\\{{1,4}})|[\x07\x9c])"
    rf"|{_ESCAPE}\([0B]|\x1b[ -/]{{0,4}}[0-~])"
)


def hide_sequences(text: str) -> str:
    """Returns a text of the same length without terminal sequences."""
    if "\x1b" in text or "\x9b" in text or "]8;" in text or _LOST.search(text):
        return _SEQUENCE.sub(_hide, text)
    return text


def _hide(found: re.Match[str]) -> str:
    separates = found["moves"] or found["text"]
    return f"{' ' if separates else HIDDEN}{HIDDEN * (len(found[0]) - 1)}"
