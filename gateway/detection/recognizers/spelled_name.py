"""Names that are spelled letter by letter, as in transcripts of calls, or with their reading, as in Japanese forms.

The expressions are in `spelled_name.toml`.
"""

from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers.person_name import PERSON

RECOGNIZERS = pattern_table(__file__, (PERSON,))
