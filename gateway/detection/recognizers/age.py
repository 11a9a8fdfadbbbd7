"""Ages of people, identified by context words: a number of years alone is a duration.

The span is the number, including its unit unless that is years.
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

AGE = EntityType("AGE", "person", "The age of a person.")

_MAX_AGE = 120


def _human_age(value: str) -> bool | None:
    digits = "".join(char for char in value if char.isdigit())
    return None if not digits or 0 < int(digits) <= _MAX_AGE else False


RECOGNIZERS = pattern_table(__file__, (AGE,), {"human_age": _human_age})
