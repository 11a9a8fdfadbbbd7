"""Corrects findings of the model by their content and their surroundings.

A label before a finding says more than the model knows: in `"city": "Austin"`, Austin is not a person.
"""

import re

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.recognizers.postal_address import PARTS
from gateway.models import Entity

WORDS = Expressions(read_toml(__file__))
"""Words of labels and headers: `places`, `goods`, and `others` of headers alone."""
# Also after another word: `billingCity`, `state_of_origin`.
_BEFORE_LABEL = r"(?:\b|_|[a-z](?=[A-Z]))"
_SIGNS = ":=>"
_AFTER_LABEL = rf"""["'*_]{{0,3}}[ \t]{{0,8}}[{_SIGNS}][ \t"'*]{{0,8}}(?:\r?\n[ \t]{{0,8}})?"""
_PLACE_LABEL, _GOODS_LABEL = (
    re.compile(rf"{_BEFORE_LABEL}(?i:{WORDS[kind]}){_AFTER_LABEL}\Z") for kind in ("places", "goods")
)
# After one of these, every item of the list counts: `Brands: Ted Baker, Fred Perry`.
_GOODS_LIST = re.compile(
    rf"{_BEFORE_LABEL}(?i:{WORDS['lists']}){_AFTER_LABEL}" + r"""(?:[^\s,;:=|"'][^,;:=|\n]{0,29},[ ]?["']?){0,9}\Z"""
)
_VALUE_ENDS = re.compile(r"[ \t]*(?:[\"*,;|<}\])\r\n]|'(?!\w)|\Z)")
_REACH, _REACH_OF_LISTS = 40, 160
# Above the addresses of an invoice. "Lan To" is a name.
_LABEL = re.compile(r"(?:bill|ship|sold|deliver|remit) to", re.IGNORECASE)
# Korean field labels for a person, a party or a number.
_KOREAN_LABEL = re.compile(r"[가-힣]{1,5}(?:인|자|주|처|명|호|좌)(?=[ ]?:|[ ]\d)")
_LABEL_ENDS = re.compile(r"[ \t*]*(?::|\||\r?\n|\Z)")
_STREET = re.compile(rf"(?:{PARTS['before']}|via)\.? (?=\w)", re.IGNORECASE)
_CITY_AND_STATE = re.compile(rf"(?:[A-Z][\w.'-]+ ){{0,3}}[A-Z][\w.'-]+,? (?:{PARTS['us_states']})|{PARTS['us_states']}")
_YEAR_OR_DAY = re.compile(r"(?:19|20)\d\d|\d{6}|\b\d{1,2}(?=\b|st|nd|rd|th)")


def is_in_place(text: str, one: Entity) -> bool:
    """Returns whether a person or address is a place: a labelled place, a street, or a city with its state."""
    value = text[one.start : one.end]
    # "via Anna Berg" tells a way, too.
    if one.type == "PERSON" and value[0].isupper() and _STREET.match(value):
        return True
    if any(map(str.isdigit, value)):
        return False
    if one.type == "STREET_ADDRESS" and _CITY_AND_STATE.fullmatch(value):
        return True
    return _follows(_PLACE_LABEL, text, one)


def is_goods(text: str, one: Entity) -> bool:
    """Returns whether a person is a product or brand with a label: `"brand": "Ted Baker"`."""
    return _follows(_GOODS_LABEL, text, one) or _follows(_GOODS_LIST, text, one, _REACH_OF_LISTS)


def is_label(text: str, one: Entity) -> bool:
    """Returns whether a person is a label that ends with a preposition, or one of a field in Korean."""
    korean = _KOREAN_LABEL.match(text, one.start)
    if korean is not None and korean.end() == one.end:
        return True
    return _LABEL.fullmatch(text, one.start, one.end) is not None and _LABEL_ENDS.match(text, one.end) is not None


def is_birth_date(value: str) -> bool:
    """Returns whether a value can be a date of birth: it has the number of a year or of a day."""
    return _YEAR_OR_DAY.search(value) is not None


def _follows(label: re.Pattern[str], text: str, one: Entity, reach: int = _REACH) -> bool:
    """Returns whether an entity is the whole value of a field with such a label. "Location: Anna's office" is not."""
    before = text[max(0, one.start - reach) : one.start]
    return (
        _VALUE_ENDS.match(text, one.end) is not None
        # The expressions begin at any letter; this takes a tenth of their time.
        and any(sign in before for sign in _SIGNS)
        and label.search(before) is not None
    )
