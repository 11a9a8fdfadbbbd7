"""Dates of birth, identified by context words: a date alone is not personal."""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._dates import BIRTH_DATE, BIRTH_MONTH, birth_date
from gateway.detection.recognizers._pattern_table import pattern_table

DATE_OF_BIRTH = EntityType("DATE_OF_BIRTH", "person", "The date on which a person was born.")


RECOGNIZERS = pattern_table(__file__, (DATE_OF_BIRTH,), {"birth_date": birth_date}, date=BIRTH_DATE, month=BIRTH_MONTH)
