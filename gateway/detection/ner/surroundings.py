"""Corrects findings of the model by what they consist of and what stands around them.

A label before a finding says more than the model knows: in `"city": "Austin"`, Austin is nobody.
"""

import re

from gateway.detection.recognizers._street_words import BEFORE, US_STATES
from gateway.models import Entity

# Labels of fields that hold a place, also behind another word: `billingCity`, `state_of_origin`.
_PLACE_LABEL = re.compile(
    r"(?:\b|_|[a-z](?=[A-Z]))(?i:city|town|village|county|country|province|ort|stadt|wohnort|geburtsort|ville|commune"
    r"|pays|ciudad|municipio|provincia|localidad|citt[àa]|comune|cidade|munic[íi]pio|woonplaats|plaats|miasto"
    r"|miejscowo[śs][ćc])"
    r"""["'*_]{0,3}[ \t]{0,8}[:=>][ \t"'*]{0,8}(?:\r?\n[ \t]{0,8})?\Z"""
)
_REACH = 40
# Above the addresses of an invoice. "Lan To" is a name.
_LABEL = re.compile(r"(?:bill|ship|sold|deliver|remit) to", re.IGNORECASE)
_LABEL_ENDS = re.compile(r"[ \t*]*(?::|\||\r?\n|\Z)")
_STREET = re.compile(rf"(?:{BEFORE}|via)\.? (?=\w)", re.IGNORECASE)
_CITY_AND_STATE = re.compile(rf"(?:[A-Z][\w.'-]+ ){{0,3}}[A-Z][\w.'-]+,? (?:{US_STATES})|{US_STATES}")
_YEAR_OR_DAY = re.compile(r"(?:19|20)\d\d|\d{6}|\b\d{1,2}(?=\b|st|nd|rd|th)")


def is_in_place(text: str, one: Entity) -> bool:
    """Returns whether a person or address is a place: one behind its label, a street, or a city with its state."""
    value = text[one.start : one.end]
    # "via Anna Berg" tells a way, too.
    if one.type == "PERSON" and value[0].isupper() and _STREET.match(value):
        return True
    if any(map(str.isdigit, value)):
        return False
    if one.type == "STREET_ADDRESS" and _CITY_AND_STATE.fullmatch(value):
        return True
    return _PLACE_LABEL.search(text[max(0, one.start - _REACH) : one.start]) is not None


def is_label(text: str, one: Entity) -> bool:
    """Returns whether a person is a label that ends with a preposition."""
    return _LABEL.fullmatch(text, one.start, one.end) is not None and _LABEL_ENDS.match(text, one.end) is not None


def is_birth_date(value: str) -> bool:
    """Returns whether a value can be a date of birth: it has the number of a year or of a day."""
    return _YEAR_OR_DAY.search(value) is not None
