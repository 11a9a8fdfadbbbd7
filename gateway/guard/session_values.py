"""Finds what an answer says of the session: placeholders that it does not have, and its values in clear or encoded."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from urllib.parse import unquote

from gateway.detection.recognizer import EntityType
from gateway.guard.canonical_text import compact
from gateway.guard.untrusted_destinations import Source
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Placeholders

GRAVE_GROUPS = frozenset({"secret", "financial", "government_id", "health"})
"""Groups of types whose values do much harm."""
_SHORTEST_WORD = 4
_SHORTEST_NUMBER = 7
# Between two characters of one value are at most this many others: "+49 (30) 1234", not half a sentence.
_WIDEST_GAP = 4
# What a model knows of the world without having been told: one word of it is no leak.
_COMMON_GROUPS = frozenset({"address", "organization", "temporal"})
_NEVER = frozenset({"PLACEHOLDER", "AGE"})
# "5552368" in "5,552,368.10" and in "9.555.2368" is part of another number.
_GOES_ON = re.compile(r"\d[.,]\d")
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_PARAMETER = re.compile(r"[?&;][\w.-]{1,40}=")
_MAX_TOKEN = 8192
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VOWELS = frozenset("AEY")
_URL_SAFE = str.maketrans("-_", "+/")


class SessionValues:
    """The placeholders and values of a session, taken apart when first asked for."""

    def __init__(self, placeholders: Placeholders, types: Mapping[str, EntityType]) -> None:
        self._placeholders = placeholders
        self._types = types

    @cached_property
    def _tags(self) -> dict[str, set[str]]:
        """The tags of the session by type."""
        tags: dict[str, set[str]] = {}
        for entry in self._placeholders.entries():
            kind, tag = _parts(entry.placeholder)
            tags.setdefault(kind, set()).add(tag)
        return tags

    @cached_property
    def _all_tags(self) -> set[str]:
        return set[str]().union(*self._tags.values())

    @cached_property
    def _slips(self) -> dict[str, set[str]]:
        """By type: the tags, and each of them with one character left out."""
        return {kind: set[str]().union(*map(_without_one, tags)) for kind, tags in self._tags.items()}

    @cached_property
    def _rare_tags(self) -> list[str]:
        """Those that no URL contains by chance: no numbers, and no letters with a vowel among them."""
        return [tag for tag in self._all_tags if not tag.isdigit() and not (tag.isalpha() and _VOWELS & set(tag))]

    @cached_property
    def _values(self) -> list[tuple[str, str, Severity]]:
        """The values to search for: the letters and digits of each, its spelling, and how much harm it does."""
        unique: dict[tuple[str, bool], tuple[str, str, Severity]] = {}
        for entry in self._placeholders.entries():
            plain, is_word = compact(entry.value), entry.value.isalpha()
            known = self._types.get(entry.type)
            group = known.group if known is not None else "custom"
            shortest = _SHORTEST_NUMBER if plain.isdigit() else _SHORTEST_WORD
            if entry.type not in _NEVER and len(plain) >= shortest and not (is_word and group in _COMMON_GROUPS):
                severity = Severity.HIGH if group in GRAVE_GROUPS else Severity.MEDIUM
                unique[plain, is_word] = plain, entry.value, severity
        return list(unique.values())

    def foreign_placeholders(self, text: str, source: Source) -> Iterator[Hit]:
        """Placeholder-shaped words of an answer that are none of the session and were not in the request."""
        for found in self._placeholders.scan(text):
            if not found.exact or self._placeholders.get(found.placeholder):
                continue
            kind, tag = _parts(found.placeholder)
            # Two words that are one slip apart have a form in common when each may lose a character.
            forged = tag in self._all_tags or not self._slips.get(kind, set()).isdisjoint(_without_one(tag))
            if (forged or self._is_plausible(kind, tag)) and not source.holds(found.placeholder):
                what = Kind.FORGED_PLACEHOLDER if forged else Kind.UNKNOWN_PLACEHOLDER
                yield Hit(what, found.start, found.end, Severity.MEDIUM)

    def _is_plausible(self, kind: str, tag: str) -> bool:
        """Whether the type exists and the tag has a digit, as nearly all tags do, unlike `[ARRAY_INDEX]`.

        A text about placeholders would write 00000 or 12345.
        """
        exists = kind in self._types or kind in self._tags
        return exists and any(map(str.isdigit, tag)) and len(set(tag)) > 1 and tag not in _ALPHABET

    def in_clear(self, text: str) -> Iterator[Hit]:
        """Where protected values are in clear, in any spelling that keeps their letters and digits in order."""
        hay = compact(text) if self._values else ""
        present = [value for value in self._values if value[0] in hay]
        if not present:
            return
        # Where in the text each character of its compact form is.
        places = [index for index, char in enumerate(text) for _ in compact(char)]
        for plain, value, severity in present:
            at = hay.find(plain)
            while at >= 0:
                own = places[at : at + len(plain)]
                start, end = own[0], own[-1] + 1
                is_dense = all(after - before <= _WIDEST_GAP + 1 for before, after in pairwise(own))
                if is_dense and _is_whole(text, start, end, value):
                    yield Hit(Kind.PROTECTED_VALUE_IN_CLEAR, start, end, severity)
                at = hay.find(plain, at + 1)

    def are_hidden_in(self, text: str) -> bool:
        """Whether a text contains a placeholder, a tag or a value in an encoding.

        Percent-encoding (once or twice), base64, base32, hexadecimal, ROT13, reversal, and tags cut to pieces.
        """
        plain = unquote(unquote(text))
        squeezed = "".join(filter(str.isalnum, _PARAMETER.sub("", plain))).upper()
        if any(tag in squeezed or tag[::-1] in squeezed for tag in self._rare_tags):
            return True
        return any(map(self._are_in, _decodings(plain)))

    def _are_in(self, text: str) -> bool:
        """Whether a text contains a placeholder or a value, within words, too."""
        hay = compact(text)
        return bool(self._placeholders.find(text)) or any(plain in hay for plain, _, _ in self._values)


def _parts(placeholder: str) -> tuple[str, str]:
    kind, _, tag = placeholder[1:-1].rpartition("_")
    return kind, tag


def _without_one(tag: str) -> set[str]:
    return {tag, *(tag[:index] + tag[index + 1 :] for index in range(len(tag)))}


def _is_whole(text: str, start: int, end: int, value: str) -> bool:
    """Not inside a longer word or number. A single word counts in its own spelling only: "Will" is no "will"."""
    if (start > 0 and text[start - 1].isalnum()) or (end < len(text) and text[end].isalnum()):
        return False
    if _GOES_ON.match(text, end - 1) or (start > 1 and _GOES_ON.match(text, start - 2)):
        return False
    return not value.isalpha() or text[start:end] == value


def _decodings(text: str) -> Iterator[str]:
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip("=")
        if len(token) <= _MAX_TOKEN:
            # A path before the token looks like part of it; each piece may be the one.
            for piece in {token, *token.split("/")}:
                for decoder in (_base64, _base32, bytes.fromhex):
                    try:
                        yield decoder(piece).decode("utf-8")
                    except (binascii.Error, ValueError):
                        continue


def _base64(token: str) -> bytes:
    return base64.b64decode(token.translate(_URL_SAFE) + "=" * (-len(token) % 4), validate=True)


def _base32(token: str) -> bytes:
    return base64.b32decode(token.upper() + "=" * (-len(token) % 8))
