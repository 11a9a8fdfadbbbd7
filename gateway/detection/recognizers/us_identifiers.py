"""United States numbers: Social Security (SSA, POMS RM 10201) and ITIN (IRS) in their usual notation, and driving
licences of any form after context words. `government_numbers.py` finds unseparated digits.
"""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._checks import digits_of, separators
from gateway.detection.recognizers._numbers.checks_world import us_itin, us_ssn

US_SSN = EntityType("US_SSN", "government_id", "A United States Social Security number.")
US_ITIN = EntityType("US_ITIN", "government_id", "A United States individual taxpayer identification number.")
US_DRIVER_LICENSE = EntityType("US_DRIVER_LICENSE", "government_id", "The number of a driving licence of a US state.")


def _ssn(value: str) -> bool | None:
    return None if len(separators(value)) == 1 and us_ssn(digits_of(value)) else False


def _itin(value: str) -> bool | None:
    return None if len(separators(value)) == 1 and us_itin(digits_of(value)) else False


def _licence(value: str) -> bool | None:
    return None if sum(char.isdigit() for char in value) >= 4 else False


_SSN_CONTEXT = ("ssn", "ssns", "social security", "social", "soc sec", "ss#", "ssid", "taxpayer", "tin")
_ITIN_CONTEXT = ("itin", "individual taxpayer", "taxpayer", "tax id", "tax identification", "tin")
_LICENCE_CUE = r"(?i)\b(?:(?:driver'?s?'?|driving|drivers|operator'?s?)[ _-]?licen[cs]es?|dl|dln)\b"
_LAST_FOUR = (
    r"(?i)\b(?:last[ -](?:4|four)(?: digits)?(?: of)?(?: (?:my|your|his|her|their|the))? (?:ssn|social(?: security"
    r"(?: number)?)?)|(?:ssn|social security number) (?:\(?last[ -](?:4|four)(?: digits)?\)?|ending(?: in)?))"
)

RECOGNIZERS = (
    PatternRecognizer(
        "us.ssn",
        US_SSN,
        (
            Pattern(r"\b\d{3}-\d{2}-\d{4}\b", 0.85),
            Pattern(r"\b\d{3}[. ]\d{2}[. ]\d{4}\b", 0.5),
        ),
        context=_SSN_CONTEXT,
        validator=_ssn,
        examples=(
            Example("SSN 536-90-4399", "536-90-4399", score=0.9),
            Example("078 05 1123", "078 05 1123"),
        ),
        counter_examples=(
            "078-05-1120",
            "666-12-3456",
            "536-00-4399",
            "693-09.4444",
            "0536-90-4399",
        ),
    ),
    PatternRecognizer(
        "us.ssn_last",
        US_SSN,
        (
            Pattern(
                _LAST_FOUR + r"[\s:=\-]{1,3}(?:(?:is|are|was)[\s:]{1,2})?(\d{4})\b", 0.7, group=1, prefilter=_LAST_FOUR
            ),
        ),
        examples=(Example("SSN (last 4): 4399", "4399"), Example("last four of my SSN are 4399", "4399")),
        counter_examples=("the last 4 of 2019", "SSN (last 4): none"),
    ),
    PatternRecognizer(
        "us.itin",
        US_ITIN,
        (Pattern(r"\b9\d{2}[\- ]\d{2}[\- ]\d{4}\b", 0.6),),
        context=_ITIN_CONTEXT,
        validator=_itin,
        examples=(Example("911-70-1234", "911-70-1234"),),
        counter_examples=("911-89-1234", "911701234"),
    ),
    PatternRecognizer(
        "us.driver_license",
        US_DRIVER_LICENSE,
        (
            Pattern(
                _LICENCE_CUE + r"[^.\n\d]{0,40}?\b([A-Za-z]{0,3}\d[A-Za-z0-9\-]{4,17})\b",
                0.8,
                group=1,
                prefilter=_LICENCE_CUE,
            ),
        ),
        validator=_licence,
        examples=(
            Example("My driver's license number is F162823540116.", "F162823540116"),
            Example("driving licence: 2270-66-1551", "2270-66-1551"),
        ),
        counter_examples=("a driver's license costs 85 dollars", "the driver update 4.2.1"),
    ),
)
