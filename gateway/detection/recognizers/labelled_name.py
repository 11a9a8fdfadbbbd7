"""Names of people in fields of forms and data, in scripts and by labels that `person_name.py` does not read. The labels
are in `labelled_name.toml`.

The whole value of the field is the name. Many scripts have no capitals, so values that are no names are recognized by
their length, by their characters, and by words that forms and lists of things have in place of names.
"""

import re

from gateway.detection.data_files import Expressions, read_toml, word_lists
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers.person_name import NO_NAMES, PARTICLES, PERSON

_PARTS = read_toml(__file__)["parts"]
_LABELS = Expressions({label: _PARTS[label] for label in ("surely", "perhaps")})
SURE_LABELS, POSSIBLE_LABELS = _LABELS["surely"], _LABELS["perhaps"]
"""Labels of which the value is always the name of a person, and those that also precede the names of things (RE2)."""
_WORDS = word_lists(__file__)
_NO_NAMES = (NO_NAMES | _WORDS["no_names"]) - PARTICLES
_STARTS, _ENDS, _THINGS, _SURNAMES = (
    tuple(sorted(_WORDS[name])) for name in ("no_starts", "no_ends", "thing_ends", "surnames")
)
_LONGEST = 40
_MOST_WORDS = 6
# Han, kana and Hangul: a name is a few characters.
_SHORT_SCRIPT = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNCASED = re.compile(r"[\u0590-\u06ff\u0900-\u0fff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")
_MOST_CHARACTERS, _MOST_IN_PARTS = 6, 16
_BETWEEN = re.compile(r"[ ·・=]+")


def is_uncased(value: str) -> bool:
    """Whether a value is written in a script that has no capitals."""
    return _SHORT_SCRIPT.search(value) is not None or _UNCASED.search(value) is not None


def full_name(value: str) -> bool | None:
    """Returns False for what is no name of a person: a sentence, a number, a word that says what to fill in."""
    words = value.replace(".", ". ").split()
    if not 2 <= len(value) <= _LONGEST or len(words) > _MOST_WORDS or any(map(str.isdigit, value)):
        return False
    if is_uncased(value):
        if value.startswith(_STARTS) or value.endswith(_ENDS):
            return False
        parts = _BETWEEN.split(value)
        if _SHORT_SCRIPT.search(value) and (
            len(value) > _MOST_IN_PARTS or (len(parts) == 1 and len(value) > _MOST_CHARACTERS)
        ):
            return False
    for word in words:
        if word.lower() in _NO_NAMES or (word[0].islower() and word not in PARTICLES):
            return False
    return None


def likely_name(value: str) -> bool | None:
    """Returns False for what is no name of a person, or may be one of a thing: a single word without capitals."""
    if full_name(value) is False or value.endswith(_THINGS):
        return False
    if " " in value or value[0].isupper():
        return None
    if _HANGUL.fullmatch(value):
        return None if len(value) <= 4 and value.startswith(_SURNAMES) else False
    return None if _SHORT_SCRIPT.search(value) else False


def korean_name(value: str) -> bool | None:
    """Returns False for what is no full name: without a surname, or with an ending of nouns for people."""
    surname = next((one for one in sorted(_SURNAMES, key=len, reverse=True) if value.startswith(one)), "")
    return None if surname and len(value) - len(surname) <= 2 and value[-1] not in "자사장관가의들" else False


RECOGNIZERS = pattern_table(
    __file__, (PERSON,), {"full_name": full_name, "likely_name": likely_name, "korean_name": korean_name}
)
