"""Finds grapheme cluster boundaries (Unicode Standard Annex 29, extended grapheme clusters).

Where Python's Unicode tables leave a doubt, there is no boundary: a span may grow by a character, but never splits one.
"""

from unicodedata import category, combining

_ZWJ = "\u200d"
_EXTENDING = frozenset("\u200c\u200d\uff9e\uff9f\u0e33\u0eb3")
_PREPENDED = frozenset(
    map(
        chr,
        (
            *range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x0D4E, 0x110BD, 0x110CD, 0x111C2, 0x111C3,
            0x113D1, 0x1193F, 0x11941, *range(0x11A84, 0x11A8A), 0x11A3A, 0x11D46, 0x11F02,
        ),
    )
)  # fmt: skip
_VIRAMA = 9
_MAX_FLAGS = 256


def grapheme_start(text: str, at: int) -> int:
    """Returns the start of the grapheme cluster that contains `at`."""
    while 0 < at < len(text) and not _is_boundary(text, at):
        at -= 1
    return at


def grapheme_end(text: str, at: int) -> int:
    """Returns the end of the grapheme cluster that contains `at`, or `at` itself on a boundary."""
    while 0 < at < len(text) and not _is_boundary(text, at):
        at += 1
    return at


def _is_boundary(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after < "\u0300" and before < "\u0300":
        return not (before == "\r" and after == "\n")
    if before in _PREPENDED:
        return category(after)[0] == "C" and after not in _EXTENDING and after not in _PREPENDED
    if _is_control(before):
        return True
    if category(after)[0] == "M" or after in _EXTENDING or _is_modifier(ord(after)):
        return False
    if before == _ZWJ and _is_symbol(after):
        return not _is_symbol(_base_before(text, at - 1))
    if combining(before) == _VIRAMA or (before == _ZWJ and at > 1 and combining(text[at - 2]) == _VIRAMA):
        return category(after) != "Lo"
    if _is_flag(before) and _is_flag(after):
        return _flags_before(text, at) % 2 == 0
    return not _joins_hangul(ord(before), ord(after))


def _is_control(char: str) -> bool:
    kind = category(char)
    return kind in {"Cc", "Zl", "Zp"} or (kind == "Cf" and char not in _EXTENDING and not _is_modifier(ord(char)))


def _is_modifier(code: int) -> bool:
    """Returns whether `code` is a skin tone modifier or belongs to a tag sequence."""
    return 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F


def _is_symbol(char: str) -> bool:
    """Returns whether a joiner can bind this pictograph. Accepts slightly more than Extended_Pictographic."""
    return category(char) in {"So", "Sm"} or char in "\u203c\u2049\u3030\u303d" or 0x1F000 <= ord(char) <= 0x1FAFF


def _base_before(text: str, at: int) -> str:
    """Returns the base character of the marks before `at`."""
    at -= 1
    while at > 0 and (category(text[at])[0] == "M" or _is_modifier(ord(text[at]))):
        at -= 1
    return text[max(at, 0)]


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    count = 0
    while at > 0 and count < _MAX_FLAGS and _is_flag(text[at - 1]):
        at -= 1
        count += 1
    return count


def _joins_hangul(before: int, after: int) -> bool:
    """Returns whether two adjacent jamo or syllables form one Hangul syllable."""
    leading = 0x1100 <= before <= 0x115F or 0xA960 <= before <= 0xA97C
    vowel = 0x1160 <= after <= 0x11A7 or 0xD7B0 <= after <= 0xD7C6
    trailing = 0x11A8 <= after <= 0x11FF or 0xD7CB <= after <= 0xD7FB
    syllable = 0xAC00 <= before <= 0xD7A3
    if leading:
        return vowel or 0x1100 <= after <= 0x115F or 0xA960 <= after <= 0xA97C or 0xAC00 <= after <= 0xD7A3
    if 0x1160 <= before <= 0x11A7 or 0xD7B0 <= before <= 0xD7C6 or (syllable and (before - 0xAC00) % 28 == 0):
        return vowel or trailing
    return trailing and (syllable or 0x11A8 <= before <= 0x11FF or 0xD7CB <= before <= 0xD7FB)
