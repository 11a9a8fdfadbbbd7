"""Postal addresses: streets with their number, in the layouts of Europe, the Americas, Australia and Japan (in Latin
letters), post boxes and military mail, including everything up to the postcode and country.

A street is identified by a street word (Street, rue, -straße), by a flat after it (Suite 104), or by words before it
("lives at 43 …", "Address:"). The span extends from the first number or name of the street to the last part of the
address, over several lines. The expressions are in `postal_address.toml`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import Expressions, expand, one_line, read_toml
from gateway.detection.entropy import phrases, word_set
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match, compile_pattern
from gateway.detection.recognizers._dates import MONTH_NAMES
from gateway.detection.recognizers._samples import with_examples

STREET_ADDRESS = EntityType("STREET_ADDRESS", "address", "A postal address, starting with the street or post box.")


@dataclass(frozen=True, slots=True)
class Form:
    """An expression for a form. `group` is the street. `free`: its words may be any and still need checking."""

    regex: str
    score: float
    group: int = 0
    weak: int = 0
    """The group that matches if the street word also has other meanings."""
    free: bool = False


_DATA = read_toml(__file__)
_WORDS = {name: "|".join(phrases(text)) for name, text in _DATA["words"].items()}
_TITLED = "|".join(word[:1].upper() + word[1:] for word in _WORDS["after_weak"].split("|"))
PARTS = Expressions({**_WORDS, "titled_after_weak": _TITLED, "letters": LETTERS, **_DATA["parts"]})
"""Words and expressions of postal addresses (RE2), by name."""
_FORMS = {name: Form(**{**row, "regex": one_line(expand(row["regex"], PARTS))}) for name, row in _DATA["forms"].items()}
# A prefilter matches the start and the end of its forms, with anything between. Counting the words between would
# multiply the states of the automaton that combines many prefilters.
_PREFILTERS = [
    (one_line(expand(row["regex"], PARTS)), [_FORMS[name] for name in row["forms"]]) for row in _DATA["prefilters"]
]
_EXACT = {form: compile_pattern(form.regex) for _, forms in _PREFILTERS for form in forms}
_CUE, _FIRST_UNIT, _FIELD_ENDS, _TECHNICAL = PARTS.re2("cue", "first_unit", "field_ends", "technical")
_NO_ADDRESS, _LIKE_ADDRESS, _NUMBERED, _NEXT_LINE = PARTS.re2("no_address", "like_address", "numbered", "next_line")
_LINE_ENDS, _TOWNLESS, _CITY_ENDS, _BLANK_LINE = PARTS.re2("line_ends", "townless", "city_ends", "blank_line")
_CONTACT = compile_pattern(PARTS["gap"] + PARTS["contact"])
_NEXT_LOWER = compile_pattern(PARTS["short_gap"] + PARTS["lower"])


def _compile_large(regex: str) -> "re2._Regexp":
    """Compiles an expression with enough memory for all states. Beyond RE2's default of 8 MiB, searches slow down."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(regex, options)


_NEXT_CERTAIN = _compile_large(PARTS["gap"] + PARTS["certain"])
_NEXT_CITY = _compile_large(PARTS["short_gap"] + PARTS["city"])
_GAPS = frozenset({b" ", b"\t", b",", b";", b".", b"\r", b"\n", b"<", b"\\"})
_LINE_BREAKS = frozenset(b"\r\n")
_COMMA = ord(",")
_MAX_PARTS = 10
_MAX_CITIES = 3
_MAX_LENGTH = 220
_WEAK = 0.3
_TAIL_GAIN = _CUE_GAIN = 0.25
_MAX_SCORE = 0.95
_BEFORE = 60


# Abbreviations, whose full stop does not end a sentence.
_ABBREVIATION = frozenset(b"gral avda prof cnel pres dott blvd bldg dept dipl sgto alte mons hnos".split())
_DIGIT = re.compile(rb"[\dA-Z]\b[^\d]{0,4}$")
_PART_OF_NUMBER = re.compile(rb"\d[.\d/-]\d\Z")
_DOCTOR = re.compile(r"0\d|\d+, [^,]*\bDr\.\Z")
_NO_STREET = word_set(
    "the a an in at to for and or but is was are were with from by this that these those people men women children"
    " years days hours minutes times items of on my your his her their its our which who i we they he she it not down"
    " up into off across per about over under near along every each more than between port version windows python"
)
_AFTER_NAME, _FIELD, _JOINED_NAME = (_FORMS[name] for name in ("after_name", "field", "joined_name"))
_TYPE_FIRST = frozenset(_FORMS[name] for name in ("number_before", "before_number", "type_town"))
_ENGLISH = word_set("in on at and for to is was with from by that are were has had")
_LINKS = word_set("de la le les du des del di da do dos van von der den of the and y e")
_LOWER_TYPES = word_set("street avenue road boulevard drive lane crescent highway")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    candidates = []
    for form in (form for hit in hits for form in _PREFILTERS[hit][1]):
        for place in _EXACT[form].finditer(data):
            start, end = place.span(form.group)
            if _PART_OF_NUMBER.search(data, max(0, start - 2), start + 1):
                continue
            if form is _FIELD:
                end = _end_of_field(data, start, end)
            weak = form.weak > 0 and place.start(form.weak) >= 0
            score = _score(form, normalized.text(start, end), weak=weak)
            if score is not None:
                candidates.append((start, end, -score))
    last = 0
    for start, end, negative_score in sorted(candidates):
        if end <= last:
            continue
        match = _full_address(data, start, end, -negative_score)
        last = match.end
        yield match


def _end_of_field(data: bytes, start: int, end: int) -> int:
    for stop in _FIELD_ENDS.finditer(data, start, end):
        sentence = stop.start(1) - 2
        if sentence < 0:
            return stop.start()
        if data[start:sentence].split()[-1].lower() not in _ABBREVIATION:
            return sentence
    return end


def _full_address(data: bytes, start: int, end: int, score: float) -> Match:
    """Extends a street to the whole address. Further parts raise the score."""
    end, certain = _address_end(data, end)
    before = data[max(0, start - _BEFORE) : start]
    if (before.endswith(b", ") or _DIGIT.search(before)) and (unit := _FIRST_UNIT.search(before)):
        start -= len(before) - unit.start()
        certain = True
    score += _TAIL_GAIN * certain + _CUE_GAIN * (_CUE.search(before) is not None)
    return Match(start, end, min(score, _MAX_SCORE), STREET_ADDRESS.name)


def _score(form: Form, text: str, *, weak: bool) -> float | None:
    """Returns the score of the street alone, or None if it is not a street."""
    if not (form in _TYPE_FIRST or any(char.isdigit() for char in text)):
        return None
    if form is _FIELD and (not _LIKE_ADDRESS.search(text.encode()) or _NO_ADDRESS.search(text.encode())):
        return None
    if form is _AFTER_NAME and _DOCTOR.match(text):
        return None
    if form.free and not _street_words(form, text):
        return None
    if form in _TYPE_FIRST and any(word in _ENGLISH for word in text.split()):
        return None
    if form is _JOINED_NAME and text.islower() and ("," in text or "str " in text):
        return None
    if weak and _TECHNICAL.search(text.encode()):
        return None
    return form.score - _WEAK if weak else form.score


def _street_words(form: Form, text: str) -> bool:
    words = [word for word in text.replace(",", " ").split() if not word[0].isdigit()]
    name = words[:-1] if form is _AFTER_NAME else words
    if not words or any(word in _NO_STREET for word in name):
        return False
    if any(word.strip(".").casefold() in MONTH_NAMES for word in (words[:1] if form is _AFTER_NAME else words)):
        return False
    if form is not _AFTER_NAME:
        return True
    if all(word[0].islower() for word in words):
        return len(words) <= 3 and words[-1].strip(".") in _LOWER_TYPES
    return not any(word[0].islower() and word not in _LINKS for word in name)


def _address_end(data: bytes, end: int) -> tuple[int, bool]:
    """Returns the end of the address whose street ends at `end`, and whether a flat, postcode or country confirms it.

    A city counts if a postcode, state or country follows, or if nothing else is between a comma or flat and the end of
    the clause. After a blank line that continues a letter, only the former counts.
    """
    at = sure = end
    certain = apart = False
    cities = 0
    limit = min(len(data), end + _MAX_LENGTH)
    for _ in range(_MAX_PARTS):
        if data[at : at + 1] not in _GAPS or cities > _MAX_CITIES or _CONTACT.match(data, at, limit):
            break
        if (found := _NEXT_CERTAIN.match(data, at, limit)) and not _continues(data, found.end()):
            certain, apart, cities = True, False, 0
            if stop := _CONTACT.search(data, at, found.end()):
                sure = stop.start()
                break
            at = sure = found.end()
            continue
        if certain and data[at] in _LINE_BREAKS:
            # A postcode at the end of its line.
            line = _NEXT_LINE.match(data, at, limit)
            if line and _LINE_ENDS.match(data, line.end()):
                at = sure = line.end()
                continue
        gap = data[at]
        if data[at : at + 2] == b"; ":
            break
        if (city := _NEXT_CITY.match(data, at, limit)) and not _NUMBERED.match(data, city.end()):
            apart = apart or _BLANK_LINE.match(data, at, limit) is not None
            townless = certain and at == sure and _TOWNLESS.search(data[max(0, at - 9) : at]) is not None
            at = _whole_words(data, at, city.end())
            cities += 1
            if apart or (gap in _LINE_BREAKS and not townless):
                continue
            if (gap == _COMMA or certain) and _CITY_ENDS.match(data, at):
                sure = at
        elif (certain or gap == _COMMA) and (lower := _NEXT_LOWER.match(data, at, limit)):
            at = sure = lower.end()
            certain = True
        else:
            break
    return sure, certain


def _whole_words(data: bytes, start: int, end: int) -> int:
    """Excludes a last word that continues with a digit, such as the district in "London N16"."""
    if not data[end : end + 1].isdigit():
        return end
    return max(data.rfind(b" ", start, end), start)


def _continues(data: bytes, end: int) -> bool:
    """Returns whether an apparent postcode is the start of a longer number, such as a phone number."""
    return data[end : end + 1] in (b"-", b"/", b" ") and data[end + 1 : end + 2].isdigit()


RECOGNIZERS = (
    with_examples(__file__, "address.postal", (STREET_ADDRESS,), (prefilter for prefilter, _ in _PREFILTERS), _find),
)
