"""Other spellings of a person's name: without marks, in other case, with an ending, as the name of an account."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from gateway.detection.data_files import word_lists

SHORTEST = 4
"""Characters of a value, or of a part of a name, that is searched for."""
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Thai, Lao, Burmese, Khmer, kana, ideographs and Hangul: nothing separates a name from the words around it."""
SHORTEST_UNSPACED = 2

_PLAIN = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i", "İ": "I"}
)
# German and the Nordic languages write two letters for one with a mark.
_IN_TWO = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Å": "Aa", "Ø": "Oe"}
)
_MARKS = dict.fromkeys(range(0x300, 0x370))
# Latin, Greek and Cyrillic letters. In other scripts a mark is as much as a letter.
_MARKED = re.compile(r"[\x00-\u052f\u1e00-\u1fff]*")
_LONG = 5
"""Characters of a name that is a word of its own, or has an ending."""
_NO_OTHER_WORD = 7
_SHORTEST_JOINED, _MOST_WORDS = 7, 4
_WITHOUT_ENDING = frozenset("sxzß")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_SYLLABLES = 3
_WORD = re.compile(r"[^\W_]+")
_DOUBLE = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
# In a name with such characters, the words may be incomplete.
_OBFUSCATED = re.compile(r"[\d_<>%&=*`~|\\+/@#;:]|-\s")
_WORDS = word_lists(__file__)


def is_long_enough(value: str) -> bool:
    """Returns whether a value is searched for: shorter ones are in other words as well."""
    return len(value) >= SHORTEST or (len(value) >= SHORTEST_UNSPACED and UNSPACED.search(value) is not None)


def composed(name: str) -> str:
    """Returns a name whose marks are parts of its letters (UAX 15)."""
    return unicodedata.normalize("NFC", name)


def without_marks(name: str) -> tuple[str, ...]:
    """Returns a name in plain letters, as files and addresses have it: `Müller` is `Mueller` and `Muller`."""
    if name.isascii() or not _MARKED.fullmatch(name):
        return ()
    forms = [_stripped(composed(name).translate(_IN_TWO)), _stripped(name)]
    return tuple(dict.fromkeys(form for form in forms if form != name))


def _stripped(name: str) -> str:
    return composed(unicodedata.normalize("NFD", name.translate(_PLAIN)).translate(_MARKS))


def respelled(name: str) -> tuple[str, ...]:
    """Returns a name without marks, and with its marks composed and decomposed (UAX 15), but not as it is.

    To a Korean name, of three syllables nearly always, endings are glued.
    """
    if name.isascii():
        return ()
    if len(name) > _SYLLABLES and _HANGUL.fullmatch(name):
        return (name[:_SYLLABLES],)
    forms = (*without_marks(name), *(unicodedata.normalize(form, name) for form in ("NFC", "NFD")))
    return tuple(dict.fromkeys(form for form in forms if form != name))


def parts_alone(name: str) -> Iterator[str]:
    """Yields the spellings of the first and last word of a name alone, unless they are ordinary words.

    These are with a capital or in capitals, with and without an `s`, and long ones in small letters: they are no other
    words. Of a double name, such as `Anna-Lena` or `Müller-Beck`, they are also the whole: no other word is spelled so.
    """
    words = () if _OBFUSCATED.search(name) else _WORD.findall(composed(name))
    if words:
        pieces = composed(name).split()
        for piece, outer in ((pieces[0], words[0]), (pieces[-1], words[-1])):
            # By its outer word, which alone would be hidden as well, a text is known to hold it.
            if len(outer) >= SHORTEST and _DOUBLE.fullmatch(piece):
                yield from (piece, *respelled(piece))
    shortest = SHORTEST if len(words) > 1 else _LONG
    is_small = name.islower()
    for word in dict.fromkeys((words[0], words[-1])) if words else ():
        is_part = word.isalpha() and len(word) >= shortest and (is_small or word[0].isupper())
        if not is_part or word.lower() in _WORDS["ordinary"]:
            continue
        titled = word.capitalize() if is_small or word.isupper() else word
        for form in (titled, *respelled(titled)):
            yield form
            if form.lower() in _WORDS["of_programs"]:
                continue
            yield form.upper()
            if len(form) >= _NO_OTHER_WORD:
                yield form.lower()
            if len(form) >= _LONG and form[-1] not in _WITHOUT_ENDING:
                yield f"{form}s"


def in_words(name: str) -> Iterator[Sequence[str]]:
    """Yields the words of a name of which others may be made: joined or turned round, with and without its marks."""
    for spelled in (composed(name), *without_marks(name)):
        words = _WORD.findall(spelled)
        if 2 <= len(words) <= _MOST_WORDS and len(spelled) >= _SHORTEST_JOINED:
            yield words


def accounts(words: Sequence[str]) -> Iterator[str]:
    """Yields names of accounts made of an initial and a long family name: `gpemberton`, `pembertong`.

    Of a short one, they may be words: `drivers`, `estate`.
    """
    if len(words) > 1 and len(words[-1]) >= _NO_OTHER_WORD:
        yield words[0][0] + words[-1]
        yield words[-1] + words[0][0]
