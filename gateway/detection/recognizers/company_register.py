"""Numbers of commercial registers, which always follow the register's name."""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

DE_HANDELSREGISTER = EntityType("DE_HANDELSREGISTER", "organization", "A number in the German commercial register.")

RECOGNIZERS = pattern_table(__file__, (DE_HANDELSREGISTER,))
