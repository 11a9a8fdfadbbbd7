"""Postcodes on their own: in distinctive forms (United Kingdom, Canada, US state and ZIP code), after a label, after
country letters, and, as candidates, after a place name.
"""

from gateway.detection.alphabet import LETTERS
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._address_parts import CANADIAN_POSTCODE
from gateway.detection.recognizers._street_words import US_STATES

POSTAL_CODE = EntityType("POSTAL_CODE", "address", "A postal code.")

# Areas and endings assigned by Royal Mail (BS 7666).
_UK_OUTWARD = r"[A-PR-UWYZ](?:[A-HK-Y]?\d[A-HJKMNPR-Y\d]?)"
_UK_INWARD = r"\d[ABD-HJLNP-UW-Z]{2}"
_LABEL = (
    r"(?i:\b(?:zip(?:[ _-]?code)?|(?:postal|post)[ _-]?code|plz|postleitzahl|code[ _]postal|c[óo]digo[ _]postal"
    r"|codice[ _]postale"
    r"|cap|cep|kod pocztowy|postnummer|postnr|psč|pin[ _]?code|eircode)\b)"
)
_SEPARATED = r"[\"'*_]{0,3}[ \t]{0,3}(?:(?i:is|ist|est|es|è|é)\b|[:=>#.|])?[ \t\"'*]{0,4}"
_CODE = (
    rf"(?:{_UK_OUTWARD} ?{_UK_INWARD}|{CANADIAN_POSTCODE}|(?:[A-Z]{{1,3}}[- ])?(?:\d{{5}}-\d{{3,4}}"
    rf"|\d{{4}}-\d{{3}}|\d{{2}}-\d{{3}}"
    r"|\d{3}-\d{4}|\d{4} ?[A-Z]{2}|\d{3} \d{2,3}|\d{4,6})|[A-Z]\d[\dW] ?[A-Z\d]{4})\b"
)
_COUNTRY = (
    r"(?:D|DE|A|AT|CH|F|FR|B|BE|L|LU|NL|I|IT|E|ES|P|PT|S|SE|DK|N|NO|FI|FIN|PL|CZ|SK|H|HU|SI|HR|LT|LV|EE"
    r"|GR|RO|BG|FL|LI|MC)"
)
_PLACE = (
    rf"\p{{Lu}}[{LETTERS}'\-]+(?:[ ](?:(?:de|la|le|del|di|da|do|am|an der|sur|of|São|na|nad|i|den|der"
    rf"|van)[ ])?\p{{Lu}}[{LETTERS}'\-]*){{0,4}}"
)


def _code(value: str) -> bool | None:
    """Excludes repeated digits, round numbers and years."""
    digits = "".join(char for char in value if char.isdigit())
    if len(set(digits)) == 1 and len(digits) > 3:
        return False
    return False if value.isdigit() and (value.endswith("000") or _year(value)) else None


def _year(value: str) -> bool:
    return len(value) == 4 and 1800 <= int(value) <= 2099


RECOGNIZERS = (
    PatternRecognizer(
        "postcode.form",
        POSTAL_CODE,
        (
            Pattern(rf"\b{_UK_OUTWARD} {_UK_INWARD}\b", 0.6),
            Pattern(r"\b(?:[A-PR-UWYZ][A-HK-Y]\d[A-Z\d]\d[ABD-HJLNP-UW-Z]{2}|GIR ?0AA)\b", 0.5),
            Pattern(r"\b[ABCEGHJ-NPRSTVXY]\d[A-CEGHJ-NPRSTV-Z] \d[A-CEGHJ-NPRSTV-Z]\d\b", 0.6),
            Pattern(rf"\b(?:{US_STATES})[ ,]{{1,2}}(\d{{5}}(?:-\d{{4}})?)\b", 0.6, group=1),
            Pattern(rf"(?:^|[\s,(]){_COUNTRY}-(\d{{4,5}}|\d{{3}} \d{{2}})[ ]+\p{{Lu}}[{LETTERS}]", 0.6, group=1),
        ),
        validator=_code,
        examples=(
            Example("Send to postcode EC2A 1NT please", "EC2A 1NT"),
            Example("M5V 2T6", "M5V 2T6"),
            Example("Springfield, IL 62704", "62704"),
            Example("D-10115 Berlin", "10115"),
        ),
        counter_examples=("QA1 1AA", "M1 1CA", "1A1 1AA", "IN 12345678", "model A1 9XB2", "A4-2048"),
    ),
    PatternRecognizer(
        "postcode.labelled",
        POSTAL_CODE,
        (
            Pattern(
                _LABEL + _SEPARATED + rf"({_CODE})", 0.8, group=1, prefilter=_LABEL + _SEPARATED + r"[A-Z]{0,3}[- ]?\d"
            ),
        ),
        examples=(
            Example("ZIP code 02139", "02139"),
            Example("zip: 94110-2205", "94110-2205"),
            Example("PLZ: 10115", "10115"),
            Example("Postleitzahl 80331 München", "80331"),
            Example('"postal_code": "75011"', "75011"),
            Example("code postal 75011", "75011"),
            Example("CEP: 01304-001", "01304-001"),
            Example("postcode 1015 CJ", "1015 CJ"),
        ),
        counter_examples=("a zip file of 300 MB", "cap at 5000", "postcode lottery"),
    ),
    PatternRecognizer(
        "postcode.place",
        POSTAL_CODE,
        (
            Pattern(
                rf"\b(?:in|near|from|at|to|of)[ ]{_PLACE},?[ ]({_CODE})",
                0.35,
                group=1,
                prefilter=rf"[{LETTERS}],? (?:[3-9]\d{{3}}\b|2[1-9]\d\d\b|1[0-7]\d\d\b|0\d{{3}}\b|\d{{5,6}}\b"
                r"|\d{3} \d\d\b|\d{2,5}-\d{3}\b|[A-Z]\d[A-Z\d])",
            ),
            Pattern(r"(?:^|[\n,;(])[ \t]?(\d{5})[ ]\p{Lu}\p{Ll}{2,}[^\n]{0,24}(?:$|[\n,;)])", 0.3, group=1),
        ),
        validator=_code,
        examples=(
            Example("to support them in Costamezzana 43015 in its mission", "43015", score=0.3),
            Example("near Quinta de São Tiago 3610-114", "3610-114", score=0.3),
        ),
        counter_examples=("in London 2012", "in Version 5000", "at 10000 people"),
    ),
)
