"""What a value says about itself: made by a machine, chosen by a person, a stand-in somebody left to fill in, or
a reference that a program resolves.
"""

import re
from itertools import pairwise
from operator import eq

from gateway.detection.entropy import entropy
from gateway.detection.recognizers._published_keys import is_published
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS, compile_words

_NO_SECRET = compile_words("(?i:<<stand_in>>)|<<reference>>")
_FILE = re.compile(EXPRESSIONS["file_name"])
# RFC 9562; nothing in it says what it is for.
_UUID = re.compile(r"(?i)^\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$")
_HEX = re.compile(r"(?i)^(?:0x)?[0-9a-f]+$")
_PLAIN = re.compile(r"^[A-Za-z_.\-/:\\@=]+$")
# Words in a row that nothing in a program is called.
_PASSPHRASE = re.compile(r"^[a-z]{3,}(?:-[a-z]{3,}){2,5}$")
_NUMBERS = re.compile(r"^[\d.,\-/:%+]+$")
_NUMBERED_WORD = re.compile(EXPRESSIONS["numbered_word"])
_CALL = re.compile(r"^\$[\w:]+->|^!\d$|^[A-Za-z_&*!$][\w.:>$?!\-]*[(\[]|\w\([^()]*\)|^\(|^\[|^\{|=>|\)\.|\(\)")
_PATH = re.compile(r"^[@$&*!]?[A-Za-z_]\w*(?:[?!]?(?:\.|->|::)[A-Za-z_]\w*)+[?!]?$")
# What Google makes for programs that know no second factor.
_APP_PASSWORD = re.compile(r"^[a-z]{4}(?:( |-)[a-z]{4})(?:\1[a-z]{4}){2}$")
_ALNUM = re.compile(r"[A-Za-z0-9]")
_ODD = frozenset("!@#$%^&*+=~?<>|{}[](),;¿¡§°¨£€")
_REPEATED = re.compile(r"(.)\1{5,}")
_REPEATED_GROUP = re.compile(r"(?<!\w)(\d{3,12})(?:-\1){2}(?!\w)")
_NUMBER_AND_SIGN = re.compile(r"\d{2,8}[!@#$%^&*?+~]+")
_SEQUENCE = 12
_ROWS = "abcdefghijklmnopqrstuvwxyz 01234567890123456789 qwertyuiopasdfghjklzxcvbnm zyxwvutsrqponmlkjihgfedcba"
_ROWS += " 98765432109876543210"
_STEPS = frozenset(map("".join, pairwise(_ROWS)))
_REGEX = re.compile(r"\(\?[=!:]|\[\^?[a-zA-Z0-9]-[a-zA-Z0-9]|\\[dwsb]|\.\*|\]\+|\]\*|\]\{")
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_RARE = {(word[0], letter) for word in WORDS["rare_neighbours"] for letter in word[1:]}


# Every byte as what it is: small letter, capital, digit, blank, or something else.
_CLASSES = bytearray(b" " * 33 + b"." * 95 + b"l" * 128)
_CLASSES[48:58], _CLASSES[65:91], _CLASSES[97:123] = b"d" * 10, b"u" * 26, b"l" * 26
_JUDGED = 160
"""Characters of a value that are looked at: what is longer is judged by its beginning."""


def is_stand_in(value: str) -> bool:
    """Whether nobody's secret stands here: a word that describes one, a mark to fill in, a reference, everybody's."""
    value = value[:_JUDGED]
    bare = value.strip(" .:!?*\"'`").lower()
    if not bare or bare in WORDS["stand_ins"] or is_dummy(value):
        return True
    return _NO_SECRET.search(value.encode()) is not None or is_published(value)


def is_dummy(value: str) -> bool:
    """What fingers type and no generator makes: one sign repeated, as `xxxxxxxx` or `00000000`, the same number three
    times over, twelve signs in the order of the alphabet, of counting or of a keyboard.
    """
    if len(set(value)) <= 2 or ("-" in value and _REPEATED_GROUP.search(value)):
        return True
    repeated = 0
    # Of six equal signs, two begin at every fifth place.
    if any(map(eq, value[::5], value[1::5])):
        repeated = sum(len(match.group()) for match in _REPEATED.finditer(value))
    return repeated * 3 >= len(value) or _has_sequence(value.lower())


def _has_sequence(value: str) -> bool:
    # Whatever twelve signs stand there, two of them begin at every tenth place.
    if _STEPS.isdisjoint([value[at : at + 2] for at in range(0, len(value) - 1, _SEQUENCE - 2)]):
        return False
    return any(value[at : at + _SEQUENCE] in _ROWS for at in range(len(value) - _SEQUENCE + 1))


def is_made(value: str) -> bool:
    """Whether a machine made it: at least 10 characters that change between digits and letters, or cases, as words
    with numbers do not.
    """
    value = value[:_JUDGED]
    if len(value) < 10:
        return False
    classes = value.encode().translate(_CLASSES)
    digits = classes.count(b"d")
    letters = classes.count(b"l") + classes.count(b"u")
    if not (digits or letters) or is_stand_in(value):
        return False
    if b" " in classes:
        # Such as the salts of WordPress, which are made of every sign there is.
        return len(value) >= 32 and len(_ODD.intersection(value)) >= 5 and bool(digits) and not _is_code(value)
    if _UUID.match(value) is not None:
        return True
    if _HEX.match(value) is not None and letters:
        return len(value) >= 16 and digits > 0 and len(set(value)) >= 6
    if _FILE.match(value) is not None or _REGEX.search(value) is not None:
        return False
    if letters and len(_ODD.intersection(value)) >= 3 and not _is_code(value):
        return entropy(value) >= 2.8
    if digits and letters:
        changes = _changes(classes)
        if changes >= max(4, 0.2 * len(value)):
            return True
        return is_gibberish(value)
    if letters:
        gibberish = _rare(value) + _changes(classes) >= len(value) // 5
        return len(value) >= 16 and letters >= 0.8 * len(value) and gibberish and not _is_of_words(value, letters)
    return digits >= 15 and digits == len(value) and len(set(value)) >= 5


def is_very_made(value: str) -> bool:
    """For names that promise little: 20 characters and more, and not what hashes and ids look like."""
    value = value[:_JUDGED]
    if len(value) < 20 or _HEX.match(value) or _UUID.match(value) or not is_made(value):
        return False
    return entropy(value) >= 3.7 and _changes(value.encode().translate(_CLASSES)) >= len(value) // 4


def is_gibberish(value: str) -> bool:
    """Whether case, digits and letters follow each other as in nothing that people say."""
    value = value[:_JUDGED]
    classes = value.encode().translate(_CLASSES)
    if _changes(classes) + _rare(value) < max(3, len(value) // 6):
        return False
    return not _is_of_words(value, classes.count(b"l") + classes.count(b"u"))


def is_chosen(value: str, *, quoted: bool) -> bool:
    """Whether it could be somebody's password: anything but a word or a name out of a program."""
    value = value[:_JUDGED]
    if len(value) < 4 or len(set(value)) <= 2:
        return False
    if value.isalpha():
        return quoted and value.isascii() and value.islower() and len(value) >= 5 and not is_stand_in(value)
    if _PASSPHRASE.match(value):
        return quoted and not is_stand_in(value)
    if _PLAIN.match(value) or not _ALNUM.search(value):
        return False
    if len(words := value.split()) > 1:
        chosen = _APP_PASSWORD.match(value) is not None or _is_spaced(words) or _is_drawn(words)
        return quoted and chosen and not is_stand_in(value)
    if _NUMBERS.match(value):
        return value.isdigit() and not is_stand_in(value)
    if _FILE.match(value) or _NUMBERED_WORD.match(value) or _REGEX.search(value) or is_stand_in(value):
        return False
    return quoted or not _is_code(value) or is_made(value)


def is_app_password(value: str) -> bool:
    """Four times four letters as Google and Apple give them out; of four short words, none has such neighbours."""
    return _APP_PASSWORD.match(value) is not None and _rare(value) >= 2


def _is_spaced(words: list[str]) -> bool:
    """Whether blanks are part of a password: few words, and more than one that is none."""
    mixed = sum(_ALNUM.search(word) is not None and not word.strip(".,:;!?()\"'").isalpha() for word in words)
    if len(words) == 2 and _NUMBER_AND_SIGN.fullmatch(words[1]):
        return True  # `Summer 2024!`
    return len(words) <= 4 and mixed * 2 > len(words) and not any(word.isdigit() and len(word) < 3 for word in words)


def _is_drawn(words: list[str]) -> bool:
    """Whether words were drawn at random, as from a list for passphrases: none of those that sentences are made of."""
    return 4 <= len(words) <= 8 and all(
        len(word) >= 3 and word.isascii() and word.isalpha() and word.islower() and word not in WORDS["of_sentences"]
        for word in words
    )


def is_phrase(value: str, *, least: int = 3) -> bool:
    """Whether it is a passphrase with something that is no word in it, and no sentence about passwords."""
    words = value.lower().split()
    return (
        least <= len(words) <= 8
        and any(map(str.isdigit, value))
        and not any(word.strip(".,:;!?()") in WORDS["of_rules"] for word in words)
        and not is_stand_in(value)
    )


def is_strong(value: str) -> bool:
    """A chosen value that no program would use as a name: letters with digits or odd signs."""
    value = value[:_JUDGED]
    if value.isalpha() or value.isdigit() or not is_chosen(value, quoted=False):
        return False
    if is_made(value):
        return True
    classes = value.encode().translate(_CLASSES)
    mixed = b"d" in classes and (b"l" in classes or b"u" in classes)
    return len(value) >= 6 and mixed and (b"." in classes.replace(b"_", b"") or b"u" in classes)


def _is_code(value: str) -> bool:
    if _CALL.search(value) is not None:
        return True
    if _PATH.match(value) is None:
        return False
    return not any(
        len(part) >= 12 and _changes(part.encode().translate(_CLASSES)) >= 4 for part in re.split(r"\W+", value)
    )


def _is_of_words(value: str, letters: int) -> bool:
    """Whether half of its letters are in runs that could be words."""
    words = sum(len(run) for run in _RUN.findall(value) if len(run) >= 4 and not _rare(run))
    return words * 2 >= letters


def _rare(value: str) -> int:
    """How many pairs of neighbours hardly any word has."""
    low = value.lower()
    return sum(map(_RARE.__contains__, pairwise(low)))


def _changes(classes: bytes) -> int:
    """How often neighbours are of different classes (upper case, lower case, digit); a capital that begins a word
    does not count.
    """
    return sum(map(classes.count, (b"dl", b"ld", b"du", b"ud", b"lu")))
