"""The shape of a placeholder, its tag, and the lenient finder.

A tag is Crockford's base32 of an HMAC over the value. It authenticates itself, so a model may have changed everything
around it: case, brackets, escapes, the underscore. What counts is that type and tag belong to a value of the session.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import re2

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SHORTEST_TAG = 5
LONGEST_TAG = 26

# Crockford reads O as zero, I and L as one.
_READ = str.maketrans("oOiIlLabcdefghjkmnpqrstvwxyz", "001111ABCDEFGHJKMNPQRSTVWXYZ")
_CANONICAL = re.compile(r"\[([A-Z][A-Z0-9_]{0,63})_([0-9A-HJKMNP-TV-Z]{5,26})\]")
_SEPARATOR = r"(?:\\{0,2}_|[ -]|&#(?:95|x5f);|&lowbar;|\\u005f|%5f)"
_SEPARATOR_RUN = re.compile(_SEPARATOR, re.IGNORECASE)
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_HAS_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
# The pairs a model may have put in place of the square brackets; the canonical pair is tried first.
_PAIRS = tuple(
    (opening.encode(), closing.encode())
    for opening, closing in (
        ("[", "]"),
        ("\\[", "\\]"),
        ("\\\\[", "\\\\]"),
        ("<", ">"),
        ("\\<", "\\>"),
        ("«", "»"),
        ("‹", "›"),
        ("⟨", "⟩"),
        ("【", "】"),
        ("{", "}"),
        ("`", "`"),
        ("&lt;", "&gt;"),
        ("&#60;", "&#62;"),
        ("&#x3c;", "&#x3e;"),
        ("&#91;", "&#93;"),
        ("&#x5b;", "&#x5d;"),
        ("&lsqb;", "&rsqb;"),
        ("&lbrack;", "&rbrack;"),
        ("&laquo;", "&raquo;"),
        ("\\u005b", "\\u005d"),
        ("\\u003c", "\\u003e"),
        ("%5b", "%5d"),
        ("%3c", "%3e"),
    )
)
# Openings that end with a letter or digit: the word border before the type does not hold there.
_WORDY_OPENINGS = tuple(opening for opening, _ in _PAIRS if opening[-1:].isalnum())


@dataclass(frozen=True, slots=True)
class Found:
    """`text[start:end]` stands for `placeholder` (canonical form); `exact` if it is written that way."""

    start: int
    end: int
    placeholder: str
    exact: bool


def encode_tag(digest: bytes, length: int) -> str:
    """The first `length` (at most 26) characters of a 32-byte digest's tag."""
    number = int.from_bytes(digest[:17]) >> 6
    return "".join([ALPHABET[(number >> shift) & 31] for shift in range(125, 125 - 5 * length, -5)])


def canonical(kind: str, tag: str) -> str:
    """`[TYPE_TAG]`."""
    return f"[{kind}_{tag}]"


def looks_like_placeholder(text: str) -> list[Found]:
    """Everything in the canonical form, whoever made it."""
    if "[" not in text:
        return []
    return [Found(m.start(), m.end(), m[0], exact=True) for m in _CANONICAL.finditer(text)]


@lru_cache(maxsize=512)
def _candidates(kinds: frozenset[str]) -> "re2._Regexp":
    options = re2.Options()
    options.max_mem = 64 << 20
    options.case_sensitive = False
    options.log_errors = False
    longest_first = sorted(kinds, key=lambda kind: (-len(kind), kind))
    names = "|".join(kind.replace("_", _SEPARATOR) for kind in longest_first)
    return re2.compile(f"({names}){_SEPARATOR}([0-9A-Za-z]{{{SHORTEST_TAG},}})".encode(), options)


def find(text: str, kinds: frozenset[str], known: Callable[[str], bool]) -> list[Found]:
    """The session's placeholders in `text`, sorted and disjoint.

    `kinds` are the types of the session; `known` tells whether a canonical placeholder is one of it. Linear in the
    text: the candidates are found by RE2, and each is looked at once.
    """
    if not kinds or len(text) <= SHORTEST_TAG:
        return []
    full_width = not text.isascii() and _HAS_FULL_WIDTH.search(text)
    mapped = text.translate(_FULL_WIDTH) if full_width else text
    data = mapped.encode("utf-8", "surrogatepass")
    pattern = _candidates(kinds)
    hits: list[tuple[int, int, str]] = []
    position = border = 0
    while match := pattern.search(data, position):
        start, end = match.span()
        kind = _SEPARATOR_RUN.sub("_", match[1].decode()).upper()
        name = canonical(kind, match[2].decode().translate(_READ))
        if known(name) and _stands_alone(data, start, end):
            start, end = _with_brackets(data, start, end, border)
            hits.append((start, end, name))
            position = border = end
        else:
            # What looked like a tag may have swallowed the beginning of a true placeholder.
            position = start + 1
    return _in_characters(text, data, hits) if hits else []


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    if end < len(data) and (data[end : end + 1].isalnum() or data[end : end + 1] == b"_"):
        return False
    if start == 0 or not (data[start - 1 : start].isalnum() or data[start - 1 : start] == b"_"):
        return True
    return data[max(0, start - 8) : start].lower().endswith(_WORDY_OPENINGS)


def _with_brackets(data: bytes, start: int, end: int, border: int) -> tuple[int, int]:
    """The span with the pair of brackets that surrounds it, if one does; one space inside them is forgiven."""
    if data[start - 1 : start] == b"[" and data[end : end + 1] == b"]" and start > border:
        return start - 1, end + 1
    before, after = data[max(border, start - 10) : start].lower(), data[end : end + 10].lower()
    for left, right in ((before, after), (before.removesuffix(b" "), after.removeprefix(b" "))):
        for opening, closing in _PAIRS:
            if left.endswith(opening) and right.startswith(closing):
                return start - (len(before) - len(left)) - len(opening), end + (len(after) - len(right)) + len(closing)
    return start, end


def _in_characters(text: str, data: bytes, hits: Iterable[tuple[int, int, str]]) -> list[Found]:
    """Byte offsets of `data` as code points of `text`."""
    found: list[Found] = []
    at = characters = 0
    ascii_only = len(data) == len(text)
    for start, end, name in hits:
        if ascii_only:
            first, last = start, end
        else:
            first = characters + len(data[at:start].decode("utf-8", "surrogatepass"))
            last = first + len(data[start:end].decode("utf-8", "surrogatepass"))
            at, characters = end, last
        found.append(Found(first, last, name, exact=text[first:last] == name))
    return found
