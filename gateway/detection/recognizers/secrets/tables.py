"""The recognizers that need no more than a table of rules."""

from gateway.detection.recognizers.secrets._locator import table

RECOGNIZERS = (table("sent"), table("statements"))
