"""Loads `_street_words.toml`: the words of postal addresses, as RE2 alternatives."""

from gateway.detection.data_files import read_toml
from gateway.detection.entropy import phrases

_LISTS = read_toml(__file__)
_WORDS = {name: "|".join(phrases(text)) for name, text in _LISTS.items()}

AFTER, AFTER_WEAK = _WORDS["after"], _WORDS["after_weak"]
BEFORE, BEFORE_WEAK = _WORDS["before"], _WORDS["before_weak"]
JOINED, JOINED_WEAK = _WORDS["joined"], _WORDS["joined_weak"]
COUNTRIES = _WORDS["countries"]
AU_STATES, US_STATES = _WORDS["au_states"], _WORDS["us_states"]
