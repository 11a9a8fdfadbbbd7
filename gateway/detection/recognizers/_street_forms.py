"""Expressions for the forms of street addresses, and their prefilters.

A prefilter matches the start and the end of a form, with anything between. Counting the words between would multiply
the states of the automaton that combines many prefilters.
"""

from dataclasses import dataclass

from gateway.detection.alphabet import LETTERS
from gateway.detection.recognizers._address_parts import (
    CANADIAN_POSTCODE,
    CAPITAL,
    GAP,
    HOUSE,
    MILITARY,
    NAME,
    NAME_WORD,
    PARTICLE,
    SHORT_HOUSE,
    TOWN,
    UK_POSTCODE,
    UNIT,
)
from gateway.detection.recognizers._street_words import (
    AFTER,
    AFTER_WEAK,
    AU_STATES,
    BEFORE,
    BEFORE_WEAK,
    JOINED,
    JOINED_WEAK,
    US_STATES,
)


@dataclass(frozen=True, slots=True)
class Form:
    """An expression for a form. `group` is the street. `free`: its words may be any and still need checking."""

    regex: str
    score: float
    group: int = 0
    weak: int = 0
    """The group that matches if the street word also has other meanings."""
    free: bool = False


_WORD = r"[^\s\d,;:()\"<>=]+"
_FRONT = r"(?:\d{1,5}[ ])?"
_NO_YEAR = r"(?:\d{1,3}|[3-9]\d{3}|2[1-9]\d\d|1[0-7]\d\d)\b"

AFTER_NAME = Form(
    rf"\b{_FRONT}{HOUSE},?[ ](?:{_WORD}[ ]){{1,4}}?(?i:(?:(?:{AFTER_WEAK})s?[ ])?(?:{AFTER})|({AFTER_WEAK})s?)\b\.?"
    r"(?:[ ](?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b\.?)?(?:[ ]\d{1,4}[a-zA-Z]?\b)?",
    0.7,
    weak=1,
    free=True,
)
_THEN = r"(?:\.[ ]?|[ ])"
_TYPE = rf"(?:(?i:{BEFORE}){_THEN}|[Cc][./][ ]?)"
_NAMED = rf"(?:{NAME}[ ]){{0,5}}(?:{NAME_WORD}|\d{{1,2}} de {NAME_WORD})"
NUMBER_BEFORE = Form(
    rf"{_FRONT}{HOUSE},?[ ]\b(?:{_TYPE}|(?i:({BEFORE_WEAK})){_THEN}){_NAMED}(?:[ ]\d{{1,4}}\b)?",
    0.65,
    weak=1,
)
BEFORE_NUMBER = Form(
    rf"\b(?:{_TYPE}|(?i:({BEFORE_WEAK})){_THEN}){_NAMED},?[ ]"
    rf"(?:(?i:n\.?[°ºr]?\.?|no\.?|num\.?|#)?[ ]?{SHORT_HOUSE}\b|(?i:s/n)\b)",
    0.65,
    weak=1,
)
TYPE_TOWN = Form(
    rf"\b((?:{_TYPE}|(?i:({BEFORE_WEAK})){_THEN}){_NAMED}),?[ \n]{TOWN}",
    0.4,
    group=1,
    weak=2,
)
BEFORE_LOWER = Form(
    rf"\b{_FRONT}{HOUSE},?[ ](?:{BEFORE}){_THEN}(?:[\p{{Ll}}.'\-]+[ ]){{0,3}}[\p{{Ll}}'\-]+(?:,?[ ]{HOUSE}\b)?",
    0.5,
)
JOINED_NAME = Form(
    rf"{_FRONT}(?:(?:{CAPITAL}[ ]){{0,3}}[{LETTERS}][{LETTERS}\-.]*(?i:(?:{JOINED})|({JOINED_WEAK}))"
    rf"|(?:{CAPITAL}[ ]){{1,3}}(?i:{JOINED})),?[ ]{HOUSE}\b",
    0.7,
    weak=1,
)
_BOX = (
    r"(?i:\b(?:p\.? ?o\.? ?box|post office box|postfach|postbus|apartado(?: de correos| postal)?|casella postale"
    r"|caixa postal|bo[îi]te postale|b\.p\.|skr(?:ytka|\.) pocz(?:towa|t\.)|psc \d{1,5},? box|cmr \d{1,5},? box"
    r"|unit \d{1,5},? box)[ ]?#?\d{1,6}(?: \d{2,3}){0,3}\b)"
)
POST_BOX = Form(_BOX, 0.65)
MILITARY_MAIL = Form(
    rf"(?:\b(?i:us[a-z]{{0,3}})[ ][{LETTERS}][{LETTERS}\-]*(?:[ ][{LETTERS}]+){{0,2}}[ ,\n]+)?\b{MILITARY}",
    0.75,
)
_FLAT = r"(?i:\b(?:apt|apartment|suite|ste|flat)\b\.?[ ]?#?\d)"
BEFORE_FLAT = Form(
    rf"((?:{_FRONT}{HOUSE},?[ ](?:{_WORD}[ ]){{0,5}}{_WORD}(?:[ ]\d{{1,5}}[a-zA-Z]?\b\.?)?"
    rf"|(?:{NAME}[ ]){{0,4}}{CAPITAL}[ ]{HOUSE}\.?)){GAP}{_FLAT}",
    0.6,
    group=1,
    free=True,
)
# A number, a name, a number that is not a year: "12 March 1990" is a date.
BETWEEN_NUMBERS = Form(
    rf"\b\d{{1,5}}[ ]{CAPITAL}(?:[ ](?:{CAPITAL}|{PARTICLE})){{0,4}}[ ]{_NO_YEAR}",
    0.4,
    free=True,
)
_DISTRICT = r"(?:ku|shi|cho|chō|machi|gun|ken|fu|to|mura|dori)\b"
JAPANESE = Form(
    rf"(?:\d{{1,4}}(?:-\d{{1,4}}){{1,3}},?[ ])(?:{CAPITAL},?[ ]){{0,4}}{CAPITAL}-?{_DISTRICT}"
    rf"|\d{{1,3}}-ch[oō]me\b(?:[ ,\-]+\d{{1,4}}){{0,3}}(?:,?[ ]{CAPITAL}){{0,4}}",
    0.6,
)
# Any number and name before a town and a postcode of English-speaking countries.
_ENGLISH_TOWN = (
    rf"(?:,[ ]|[ ]?\n[ ]?)(?:{CAPITAL}(?:[ ]{CAPITAL}){{0,3}}(?:,[ ]|\n|[ ]))?"
    rf"(?:(?:{US_STATES}),?[ ]\d{{5}}\b|(?:{AU_STATES}),?[ ]\d{{4}}\b|{UK_POSTCODE}\b"
    rf"|(?:[A-Z]{{2}}[ ])?{CANADIAN_POSTCODE}\b)"
)
NUMBER_TOWN = Form(
    rf"\b((?:{HOUSE}|{UNIT}),?(?:[ ]|\n)(?:{NAME}[ ]){{0,4}}{CAPITAL}){_ENGLISH_TOWN}",
    0.4,
    group=1,
    free=True,
)
# Any name and number before a postcode and a town.
BEFORE_TOWN = Form(
    rf"((?:{NAME}[ ]){{0,3}}{CAPITAL},?[ ]\d{{1,4}}[a-zA-Z]?\b(?:[ ]{UNIT})?),?[ \n]{TOWN}",
    0.35,
    group=1,
    free=True,
)
_LIVES = (
    r"(?i:\b(?:address is|live[sd]? (?:at|in|on)|living (?:at|in|on)|resid(?:es?|ing) (?:at|in)|located (?:at|on)"
    r"|(?:north|south|east|west) side of|corner of|wohn(?:e|t|haft|en)?(?: in| an)?(?: der| am)?|adresse (?:ist"
    r"|lautet|est)"
    r"|(?:j'?habite|habite|demeurant)(?: au)?|viv[eo] en|domiciliad[oa] en|abit[oa] in|residente in|mor[oa] na"
    r"|woon(?:t)?"
    r" (?:in|aan|op)))[ ]"
)
AFTER_CUE = Form(
    _LIVES + rf"((?:{NAME}[ ]){{0,4}}{CAPITAL}[ ]{_NO_YEAR})",
    0.15,
    group=1,
    free=True,
)
_FIELD = (
    r"(?i:(?:^|[\s\"'<{,;|*(_>])(?:street|(?:street|home|postal|mailing|billing|shipping|delivery|residential"
    r"|work|office"
    r"|permanent|current|property|full)[ _-]?address|address(?:[ _-]?line)?(?:[ _-]?[12])?|addr|stra(?:ß|ss)e"
    r"|(?:wohn|post|liefer|rechnungs)?(?:adresse|anschrift)|adres|adresse (?:postale|de livraison|de facturation)"
    r"|direcci[oó]n(?: postal)?|domicilio|indirizzo|endere[cç]o|morada|straat|rue|calle)"
    r"[\"'*_]{0,3}[ \t]{0,20}(?::|=>?|>)[ \t]{0,20}[\"'*]{0,3}[ \t]{0,8})"
)
FIELD = Form(
    _FIELD + rf"([{LETTERS}\d#][^\n\"<>@|]{{3,100}})",
    0.65,
    group=1,
)


def _titled(words: str) -> str:
    return "|".join(word[:1].upper() + word[1:] for word in words.split("|"))


PREFILTERS: tuple[tuple[str, tuple[Form, ...]], ...] = (
    (
        rf"[^\s\d,;:] (?i:{AFTER})\b|\d[a-zA-Z]?,? (?:\p{{Lu}}[^\s\d,;:()]* )+(?:{_titled(AFTER_WEAK)})s?\b",
        (AFTER_NAME,),
    ),
    (rf"\d(?: ?(?:bis|ter|[a-zA-Z]))?,? (?i:{BEFORE}|{BEFORE_WEAK}){_THEN}[^\s\d]", (NUMBER_BEFORE, BEFORE_LOWER)),
    (
        rf"(?:(?:(?:^|[\s,;:(\"'>])(?:(?:(?i:{BEFORE})|via|Via|Place|Plaza|Route|Laan|Vial"
        rf"|Acceso|Cañada|Diagonal|Borgo|Canale|Sítio|Condomínio|Parque|Lagoa){_THEN}|[Cc][./] ?)[^\s\d]"
        rf"|[\s:](?:[Aa]|[Pp])l\. ?\p{{Lu}}|{_LIVES})[^\d\n.;]*|{_FIELD}[^\d\n;]*)"
        r"\n?(?:(?i:n[ro]?|n[uú]m)\.[°º]?[ ]?)?(?:\d|(?i:s/n))",
        (BEFORE_NUMBER, TYPE_TOWN, AFTER_CUE, FIELD),
    ),
    (rf"(?i:[^\s\d] ?(?:{JOINED})|[^\s\d](?:{JOINED_WEAK})),? \d", (JOINED_NAME,)),
    (_BOX, (POST_BOX,)),
    (r"(?i:\b[afd]po[ ,]{1,2}a[aep]) \d", (MILITARY_MAIL,)),
    (_FLAT, (BEFORE_FLAT,)),
    (rf"\d \p{{Lu}}[^\d\n,;:()\"<>]* {_NO_YEAR}", (BETWEEN_NUMBERS,)),
    (rf"\d-\d{{1,4}},? [^\d\n]*-{_DISTRICT}|\d-ch[oō]me\b", (JAPANESE,)),
    (rf"\d[a-zA-Z]?\.?,?[ \n]{TOWN}", (BEFORE_TOWN,)),
    (
        rf"\b(?:{US_STATES}),?[ ]\d{{5}}\b|\b(?:{AU_STATES}),?[ ]\d{{4}}\b|\b{UK_POSTCODE}\b"
        rf"|\b{CANADIAN_POSTCODE}\b",
        (NUMBER_TOWN,),
    ),
)
"""Each prefilter with the forms it selects."""
