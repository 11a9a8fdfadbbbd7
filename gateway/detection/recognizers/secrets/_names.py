"""What the name before a value promises: a password, a made secret, only maybe a key, or none of these.

`DB_PASSWORD`, `oktaApiToken` and `x-api-key` tell; `password_hint`, `nextPageToken`, `public_key` and `tokenizer`
do not. Names are read word by word, in any of the ways programs join words.
"""

import re
from enum import Enum, auto

from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS


class Kind(Enum):
    """What a name says of its value, and so how the value has to look to count."""

    PASSWORD = auto()
    """Chosen by a person: nearly anything but a plain word."""
    SECRET = auto()
    """Made by a machine: random characters."""
    MAYBE_KEY = auto()
    """Some key: only long and very random values count."""


_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zñ0]*[a-zñ]|[A-Z]+|\d+")
_CHOSEN_END, _MADE_END = re.compile(EXPRESSIONS["chosen_end"]), re.compile(EXPRESSIONS["made_end"])
_LONGEST = 80
_PLACE_TOKEN = re.compile(rf"(?:{'|'.join(sorted(WORDS['places']))})tokens?")
_PLACE = re.compile(rb"(?:^|[^a-z])([a-z]+)[ \t_\-]+$")
_LONGEST_PLACE = 16
_OWNER = re.compile(rb"\b([A-Za-z]{2,24})[\"']?(?::|__|[ \t]{0,8}=)[ \t]{0,8}(?:\{|\r?\n)?[ \t\r\n]{0,16}[\"']?$")
_LONGEST_OWNER = 64


def kind_of(name: str) -> Kind | None:
    """What `name` (as written, up to its last 80 characters) promises, or None."""
    words = [word.lower() for word in _WORDS.findall(name[-_LONGEST:])]
    for at in range(len(words) - 1, -1, -1):
        kind = _kind_of_word(words, at)
        if kind is None:
            continue
        after = [word for word in words[at + 1 :] if not word.isdigit()]
        if words[at] == "secret" and after == ["id"]:
            return Kind.SECRET  # which opens a vault beside the id of a role
        if (
            any(word in WORDS["about"] for word in after)
            or (words[at] == "pass" and after and after[-1] not in {"plain", "clear"})
            or (at and words[at - 1] in WORDS["before"])
        ):
            return None
        return kind
    return None


def is_place(data: bytes, at: int) -> bool:
    """Whether the word before `token`, which stands at `at`, makes it a cursor: `next page token`, `sync token`."""
    before = _PLACE.search(data[max(0, at - _LONGEST_PLACE) : at].lower())
    return before is not None and before[1].decode() in WORDS["places"]


def kind_below(data: bytes, at: int) -> Kind | None:
    """What a mere `key` is, which stands at `at`, by what it belongs to: `Jwt:Key`, `"signing": {"key"`."""
    owner = _OWNER.search(data[max(0, at - _LONGEST_OWNER) : at])
    return Kind.SECRET if owner is not None and owner[1].decode().lower() in WORDS["owners"] else None


def _kind_of_word(words: list[str], at: int) -> Kind | None:
    word = words[at]
    if _PLACE_TOKEN.fullmatch(word):
        return None
    if word in WORDS["chosen"] or _CHOSEN_END.search(word):
        return Kind.PASSWORD
    if word in WORDS["made"] or _MADE_END.search(word) or (word == "auth" and at == len(words) - 1):
        return Kind.SECRET
    if word in {"key", "keys"} and at:
        before = words[at - 1]
        if words[0] == "x" or before in WORDS["key_qualifiers"] or any(one in WORDS["vendors"] for one in words[:at]):
            return Kind.SECRET
        return None if before in WORDS["no_key"] else Kind.MAYBE_KEY
    return None
