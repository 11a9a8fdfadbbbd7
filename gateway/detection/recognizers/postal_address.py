"""Postal addresses: streets with their number, in the layouts of Europe, the Americas, Australia and Japan (in Latin
letters), post boxes and military mail, including everything up to the postcode and country.

A street is identified by a street word (Street, rue, -straße), by a flat after it (Suite 104), or by words before it
("lives at 43 …", "Address:"). The span extends from the first number or name of the street to the last part of the
address, over several lines.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.alphabet import LETTERS
from gateway.detection.entropy import word_set
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match, compile_pattern
from gateway.detection.recognizers._address_parts import CAPITAL, CONTACT, GAP, UNIT, address_end
from gateway.detection.recognizers._dates import MONTH_NAMES
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers._street_forms import FORMS, PREFILTERS, Form

STREET_ADDRESS = EntityType("STREET_ADDRESS", "address", "A postal address, starting with the street or post box.")

_EXACT = {form: compile_pattern(form.regex) for _, forms in PREFILTERS for form in forms}
_WEAK = 0.3
_TAIL_GAIN = _CUE_GAIN = 0.25
_MAX_SCORE = 0.95
_BEFORE = 60

_CUE = compile_pattern(
    r"(?i)\b(?:address|adres(?:se)?|anschrift|direcci[oó]n|domicili[oa]d?[oa]?|indirizzo|endere[cç]o|morada"
    r"|liv(?:e|es|ed|ing)|resid(?:e|es|ed|ing|ence)|located|meet|deliver(?:ed|y)?|ship(?:ped|ping)?|mail(?:ed)?|sent"
    r"|send|mov(?:e|ed|ing)|drops?|taxi|pick(?:ed)? ?up|billing|home|house|corner|wohn(?:e|t|en|haft)|zieh|habite"
    r"|demeurant|vive|vivo|abito|residente|mora|moro|woon(?:t)?|restaurant|office|property|stop)\b"
)
_FIRST_UNIT = compile_pattern(rf"{UNIT}{GAP}(?:(?:{CAPITAL}[ ]){{0,2}}{CAPITAL},[ ])?$")
# The end of an address in a field: another sentence, field or contact detail.
_FIELD_ENDS = compile_pattern(
    rf"(?:\d|[A-Z\d]{{2}}|\p{{Ll}}{{3}})[.;!?] (\p{{Lu}}[{LETTERS}']+,? [\p{{Ll}}])"
    rf"|[.;] \p{{Lu}}[{LETTERS}]+:|{GAP}{CONTACT}"
)

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
_TECHNICAL = compile_pattern(
    r"(?i)\b(?:bluetooth|wi-?fi|usb|https?|ftp|ssh|tcp|udp|ip(?:v\d)?|port|api|app|e-?mail|sms|python|java|node"
    r"|docker|windows"
    r"|linux|mac|ios|android|version|chrome|firefox|tls|ssl|vpn|dns|sql|json|xml|csv|pdf|satellite|cable)\b"
)
_AFTER_NAME, _FIELD, _JOINED_NAME = (FORMS[name] for name in ("after_name", "field", "joined_name"))
_TYPE_FIRST = frozenset(FORMS[name] for name in ("number_before", "before_number", "type_town"))
_ENGLISH = word_set("in on at and for to is was with from by that are were has had")
_LINKS = word_set("de la le les du des del di da do dos van von der den of the and y e")
_LOWER_TYPES = word_set("street avenue road boulevard drive lane crescent highway")
_NO_ADDRESS = compile_pattern(
    r"(?i)0x[0-9a-f]|://|\be-?mail|[=_\\;{}]|\w[(\[]|\d{1,3}(?:\.\d{1,3}){3}|\bipv\d|[0-9a-f]{16}"
)
_LIKE_ADDRESS = compile_pattern(
    rf"^#?\d{{1,5}}[^\s,]{{0,4}},? +[{LETTERS}\d]"
    rf"|[{LETTERS}][{LETTERS}.],? \d{{1,5}}[a-zA-Z]?(?:[\s,;/]|$)"
)


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    candidates = []
    for form in (form for hit in hits for form in PREFILTERS[hit][1]):
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
    end, certain = address_end(data, end)
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
    if form is _FIELD and not _address_in_field(text):
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


def _address_in_field(text: str) -> bool:
    data = text.encode()
    return _LIKE_ADDRESS.search(data) is not None and _NO_ADDRESS.search(data) is None


RECOGNIZERS = (
    with_examples(__file__, "address.postal", (STREET_ADDRESS,), (prefilter for prefilter, _ in PREFILTERS), _find),
)
