r"""Defines the form of a placeholder, its tag, and the spellings that models use for its punctuation.

    [TYPE_TAG]      TYPE = [A-Z][A-Z0-9]*(_[A-Z0-9]+)*      TAG = 5 to 26 characters of Crockford's base32

A tag is part of an HMAC over the value, so it authenticates itself: whatever a model changes around it (case, brackets,
escapes, the underscore), type and tag together still name one value of one session, or none.
"""

import re
from typing import NamedTuple

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SHORTEST_TAG = 5
LONGEST_TAG = 26
_DIGEST_BITS = 136
# Crockford's decoding: O is read as zero, I and L as one. Tags do not contain U.
_DECODING = str.maketrans("oOiIlLabcdefghjkmnpqrstvwxyz", "001111ABCDEFGHJKMNPQRSTVWXYZ")

_TYPE = re.compile(r"[A-Z][A-Z0-9]{0,63}(?:_[A-Z0-9]{1,63})*")
_LONGEST_TYPE = 64
# Matches the core as one run, which is split afterwards, so that the expression never tries a text twice.
CANONICAL = re.compile(r"\[([A-Z][A-Z0-9_]{6,90})\]")
_CORE = re.compile(rf"({_TYPE.pattern})_[0-9A-HJKMNP-TV-Z]{{5,26}}")

# Full-width forms, typographic hyphens and spaces, and brackets of other scripts; one for one, so that offsets stay.
_FOLD = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "),
    **dict(zip("【】〔〕‹›⟨⟩〈〉", "[][]<><><>", strict=True)),
}
_FOLDABLE = re.compile(f"[{''.join(_FOLD)}]")


class Found(NamedTuple):
    """`text[start:end]` is a spelling of `placeholder` (canonical form), `exact` if it is the canonical one."""

    start: int
    end: int
    placeholder: str
    exact: bool


def encode_tag(digest: bytes, length: int) -> str:
    """Returns the tag of a digest of at least 17 bytes. A shorter tag is the beginning of a longer one."""
    number = int.from_bytes(digest[:17]) >> (_DIGEST_BITS - 5 * length)
    return "".join([ALPHABET[(number >> shift) & 31] for shift in range(5 * length - 5, -1, -5)])


def read_tag(written: str) -> str:
    """Decodes a tag as Crockford's base32 does."""
    return written.translate(_DECODING)


def canonical(type: str, tag: str) -> str:
    """Returns `[TYPE_TAG]`."""
    return f"[{type}_{tag}]"


def is_type(type: str) -> bool:
    """Returns whether a name is valid as the type of a placeholder."""
    return len(type) <= _LONGEST_TYPE and _TYPE.fullmatch(type) is not None


def type_of(placeholder: str) -> str:
    """Returns the type of a canonical placeholder."""
    return placeholder[1:-1].rpartition("_")[0]


def looks_like_placeholder(text: str) -> list[Found]:
    """Finds everything in the canonical form, of any session."""
    if "[" not in text:
        return []
    return [Found(*m.span(), m[0], exact=True) for m in CANONICAL.finditer(text) if is_core(m[1])]


def is_core(core: str) -> bool:
    """Returns whether the text between the brackets consists of a type and a tag."""
    match = _CORE.fullmatch(core)
    return match is not None and match.end(1) <= _LONGEST_TYPE


def fold(text: str) -> str:
    """Folds typographic variants of a text. Offsets stay the same."""
    return text if text.isascii() else _FOLDABLE.sub(lambda match: _FOLD[match[0]], text)


def spellings(char: str, *entities: str) -> tuple[str, ...]:
    r"""Returns the spellings of a character: plain, escaped for Markdown, HTML entity, JSON escape, percent-encoded."""
    code = ord(char)
    escaped = (f"\\{char}", f"\\\\{char}") if char.isascii() else ()
    numeric = tuple(f"&#{zeros}{code};" for zeros in ("", "0", "00"))
    hexadecimal = tuple(f"&#x{zeros}{code:x};" for zeros in ("", "0", "00"))
    named = tuple(f"&{name};" for name in entities)
    json = (f"\\u{code:04x}", f"\\\\u{code:04x}")
    percent = "".join(f"%{byte:02x}" for byte in char.encode())
    return (char, *escaped, *numeric, *hexadecimal, *named, *json, percent)


UNDERSCORE = spellings("_", "lowbar")
# Name of a pair -> the spellings of its opening and of its closing bracket, which must belong to the same pair.
BRACKETS = {
    "square": (spellings("[", "lsqb", "lbrack"), spellings("]", "rsqb", "rbrack")),
    "angle": (spellings("<", "lt"), spellings(">", "gt")),
    "guillemet": (spellings("«", "laquo"), spellings("»", "raquo")),
    "brace": (("{",), ("}",)),
    "tick": (("`",), ("`",)),
    "emphasis": (("_",), ("_",)),
}


def either(words: tuple[str, ...]) -> str:
    """Returns a regular expression that matches any of the words."""
    return "(?:" + "|".join(re.escape(word) for word in words) + ")"


SEPARATOR = rf"(?: ?{either(UNDERSCORE)} ?|[ -])"
BLANK = r"[ \t\r\n]{0,2}"
