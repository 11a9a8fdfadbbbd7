"""Loads `_street_words.toml`: the words of postal addresses, as RE2 alternatives."""

from gateway.detection.data_files import read_toml
from gateway.detection.entropy import phrases

WORDS = {name: "|".join(phrases(text)) for name, text in read_toml(__file__).items()}

BEFORE, COUNTRIES, US_STATES = WORDS["before"], WORDS["countries"], WORDS["us_states"]
