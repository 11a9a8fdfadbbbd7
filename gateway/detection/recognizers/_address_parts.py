"""Finds the end of a postal address after its street: flat, box, postcode, city, state and country, on the same line or
the next ones.

All expressions are for `NormalizedText.data`. None has a capturing group, so that RE2 can use its fast automaton.
"""

import re2

from gateway.detection.alphabet import LETTERS
from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers._street_words import COUNTRIES, US_STATES

CAPITAL = r"(?:[dlDL]')?\p{Lu}[^\s,;:()\"<>!?]*"
PARTICLE = (
    r"(?:de|la|le|les|l'|d'|du|des|del|della|dello|delle|dei|degli|di|da|do|dos|das|e|y|et|van|von|der|den|het|ten|ter"
    r"|am|an|im|in|zum|zur|auf|bei|sur|sous|en|upon|on|the|of|and|los|las|el|i|st\.|ste\.|vom|og|och|al|aan|op|sul|nad"
    r"|pod|u|a|ao|à|aux)"
)
# A full stop after a long word ends the sentence.
NAME_WORD = r"(?:[dlDL]')?\p{Lu}(?:[^\s,;:()\"<>!?]{0,3}\.|[^\s,;:()\"<>!?]*[^\s,;:()\"<>!?.]|)"
NAME = rf"(?:{NAME_WORD}|\d{{1,3}}(?:st|nd|rd|th)|{PARTICLE})"
HOUSE = (
    r"\d{1,5}(?:[ ]?(?:bis|ter|quater)\b|[a-zA-Z]\b|[ ][a-h]\b|[ ][A-Z]\b(?:[ ]\d{1,3}\b)?)?"
    r"(?:[ ]?[-/][ ]?(?:\d{1,5}[a-zA-Z]?|[IVX]{1,4}|[a-zA-Z])\b){0,3}"
)
SHORT_HOUSE = HOUSE.replace("{1,5}", "{1,4}", 1)
TOWN = rf"(?:[A-Z]{{1,2}}-)?(?:\d{{3}} \d{{2}}|\d{{2}}-\d{{3}}|\d{{4}}-\d{{3}}|\d{{4,5}}),?[ ]\p{{Lu}}[{LETTERS}']{{2}}"
UK_POSTCODE = r"(?:[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}|GIR ?0AA)"
CANADIAN_POSTCODE = r"[ABCEGHJ-NPRSTVXY]\d[A-Z][ -]?\d[A-Z]\d"
POSTCODE = (
    rf"(?:{UK_POSTCODE}|{CANADIAN_POSTCODE}|[A-Z]\d[\dW] ?[A-Z\d]{{4}}|(?:[A-Z]{{1,3}}[- ])?(?:\d{{5}}-\d{{3,4}}"
    rf"|\d{{4}}-\d{{3}}|\d{{2}}-\d{{3}}"
    r"|\d{3}-\d{4}|\d{4} ?[A-Z]{2}|\d{3} \d{2,3}|\d{4,6}|\d{8}))\b"
)
US_ZIP = rf"(?i:{US_STATES})\b\.?[ ,]{{0,2}}\d{{5}}(?:-\d{{4}})?\b"
MILITARY = r"(?i:[afd]po)[ ,]{1,2}(?i:a[aep])[ ]\d{5}(?:-\d{4})?\b"
UNIT = (
    r"(?:(?i:apt|apartment|appartement|appartamento|appt?|ap|studio|interior|edif(?:icio)?|bl|sc|suite|ste|unit"
    r"|flat|room|rm|floor|fl|bldg|building|block|blk|lot|level"
    r"|p\.? ?o\.? ?box|box|postfach|postbus|departamento|depto|dpto|piso|puerta|planta|esc(?:alera)?|interno|int|scala"
    r"|piano|b[âa]t(?:iment)?|[ée]tage|escalier|wohnung|whg|stock|bus|bte|bo[îi]te|apto|apartamento|andar|bloco|lote"
    r"|sala|lok|lgh|lejl|daire|kat|casa|quadra)"
    r"\b\.?[ ]?(?:n?[°º]\.?[ ]?|#|no\.? ?|:[ ]?)?(?:\d{1,6}[A-Za-z]?(?:[-/]\d{1,4})?|[A-Z])\b"
    r"|#[ ]?\d{1,5}[A-Za-z]?\b|m\.[ ]?\d{1,4}\b"
    r"|\d{1,2}(?:st|nd|rd|th|er|[eè]me|e|\.?[ºª°]|\.)[ ]?(?i:floor|fl|og|stock|[ée]tage|piso|andar|izq(?:uierda)?|izda"
    r"|dcha|derecha|esq|dto|fte|tv|th|mf|[a-f])\b)"
)
_LINE = r"[ \t]*(?:\r?\n[>?|*#\t ]{0,40}){1,2}"
_GAP = rf"(?:[ \t]*\.?[,;][ \t]*(?:{_LINE})?|{_LINE}(?:,[ \t]*)?|[ \t]+[-|/·•][ \t]+|[ \t]+|<br[ ]?/?>[ \t]*|\\n[ \t]*)"
GAP = rf"(?:{_GAP}|\.[ \t]+|\.{_LINE})"
_CITY_WORD = r"(?:[SM]te?\.[ ]?|[dlDL]')?\p{Lu}[^\s\d,;:()\"<>!?.]*"
_CITY = (
    rf"{_CITY_WORD}(?:[ \-']+(?:{PARTICLE}[ ]){{0,2}}{_CITY_WORD}){{0,4}}"
    rf"(?:[ ]\([{LETTERS} .'\-]{{2,20}}\)|[ ]\d{{1,2}}\b)?"
)
_COUNTRY = rf"(?i:{COUNTRIES})\b(?:[ ]\([^()\n]{{2,20}}\))?"
# A postcode before its town.
_WITH_TOWN = (
    r"(?:[A-Z]{1,2}-)?(?:\d{4}-\d{3}|\d{5}-?\d{3}|\d{2}-\d{3}|\d{4} ?[A-Z]{2}|\d{3} \d{2}|\d{4,5})"
    rf"(?:[ ]|,[ ])(?:'s[ ]|{PARTICLE}[ ])?{_CITY}(?:[ ]?[/\-][ ]?[A-Z]{{2}}\b)?"
)
_CERTAIN = rf"(?:{UNIT}|{US_ZIP}|{MILITARY}|{_WITH_TOWN}|{POSTCODE}|(?:{_CITY_WORD}[ ]){{0,3}}{_COUNTRY})"
_LOWER = rf"[\p{{Ll}}'\-]+(?:[ ][\p{{Ll}}'\-]+){{0,3}}[, \n>?|*#]+(?:\d{{5}}\b|(?i:{COUNTRIES})\b)"


def _compile_large(regex: str) -> "re2._Regexp":
    """Compiles an expression with enough memory for all states. Beyond RE2's default of 8 MiB, searches slow down."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(regex, options)


_NEXT_CERTAIN = _compile_large(GAP + _CERTAIN)
_NEXT_CITY = _compile_large(_GAP + _CITY)
# Contact details that follow an address and end it.
CONTACT = (
    r"(?i:tel|tele(?:ph|f)on[eo]?|t[ée]l[ée]phone|tel[ée]fon[eo]|telefoon|phone|mob(?:ile?|iel|iltelefon)?|m[óo]vil|cell?"
    r"|celular|cellulare|telem[óo]vel|handy|natel|gsm|fax|whats ?app|e-?mail|tlf|tfn|puh|iban|bic|dob)\b"
)
_CONTACT = compile_pattern(GAP + CONTACT)
# A word before a number that is too long for a postcode is its label, in any language.
_NUMBERED = compile_pattern(
    r"(?:[.:]{1,2}[ ]{0,2}[+(]{0,2}\d(?:[ ()./\-]{0,2}\d){5}|[ ][+(]{0,2}\d(?:[ ()./\-]{0,2}\d){8})"
)
_NEXT_LOWER = compile_pattern(_GAP + _LOWER)
# A postcode on its own line, perhaps after another word. Three digits are enough there (Iceland).
_NEXT_LINE = compile_pattern(rf"{_LINE}(?:[{LETTERS}.]{{2,20}}{_LINE})?(?:{POSTCODE}|\d{{3}}\b)")
_LINE_ENDS = compile_pattern(r"[ \t]*(?:\r?\n|$)")
# Postcodes before the town, which may be on the next line.
_TOWNLESS = compile_pattern(r"[\s,-](?:\d{4} ?[A-Z]{2}|\d{4}|\d{3} \d{2}|\d{2}-\d{3})$")
_CITY_ENDS = compile_pattern(
    r"$|[\r\n.,;?!)\"'<\]}|\\]|[ ](?:for|and|in|on|at|is|was|until|since|from|to|with|by|or)\b"
)
_BLANK_LINE = compile_pattern(r"[ \t.,;]*\r?\n[>?|*#\t ]{0,40}\r?\n")
_GAPS = frozenset({b" ", b"\t", b",", b";", b".", b"\r", b"\n", b"<", b"\\"})
_LINE_BREAKS = frozenset(b"\r\n")
_COMMA = ord(",")
_MAX_PARTS = 10
_MAX_CITIES = 3
_MAX_LENGTH = 220


def address_end(data: bytes, end: int) -> tuple[int, bool]:
    """Returns the end of the address whose street ends at `end`, and whether a flat, postcode or country confirms it.

    A city counts if a postcode, state or country follows, or if nothing else is between a comma or flat and the end of
    the clause. After a blank line that continues a letter, only the former counts.
    """
    at = sure = end
    certain = apart = False
    cities = 0
    limit = min(len(data), end + _MAX_LENGTH)
    for _ in range(_MAX_PARTS):
        if data[at : at + 1] not in _GAPS or cities > _MAX_CITIES or _CONTACT.match(data, at, limit):
            break
        if (found := _NEXT_CERTAIN.match(data, at, limit)) and not _continues(data, found.end()):
            certain, apart, cities = True, False, 0
            if stop := _CONTACT.search(data, at, found.end()):
                sure = stop.start()
                break
            at = sure = found.end()
            continue
        if certain and data[at] in _LINE_BREAKS and (line := _own_line(data, at, limit)):
            at = sure = line
            continue
        gap = data[at]
        if data[at : at + 2] == b"; ":
            break
        if (city := _NEXT_CITY.match(data, at, limit)) and not _NUMBERED.match(data, city.end()):
            apart = apart or _BLANK_LINE.match(data, at, limit) is not None
            townless = certain and at == sure and _TOWNLESS.search(data[max(0, at - 9) : at]) is not None
            at = _whole_words(data, at, city.end())
            cities += 1
            if apart or (gap in _LINE_BREAKS and not townless):
                continue
            if (gap == _COMMA or certain) and _CITY_ENDS.match(data, at):
                sure = at
        elif (certain or gap == _COMMA) and (lower := _NEXT_LOWER.match(data, at, limit)):
            at = sure = lower.end()
            certain = True
        else:
            break
    return sure, certain


def _own_line(data: bytes, at: int, limit: int) -> int | None:
    """Returns the end of a postcode at the end of its line, else None."""
    line = _NEXT_LINE.match(data, at, limit)
    return line.end() if line and _LINE_ENDS.match(data, line.end()) else None


def _whole_words(data: bytes, start: int, end: int) -> int:
    """Excludes a last word that continues with a digit, such as the district in "London N16"."""
    if not data[end : end + 1].isdigit():
        return end
    return max(data.rfind(b" ", start, end), start)


def _continues(data: bytes, end: int) -> bool:
    """Returns whether an apparent postcode is the start of a longer number, such as a phone number."""
    return data[end : end + 1] in (b"-", b"/", b" ") and data[end + 1 : end + 2].isdigit()
