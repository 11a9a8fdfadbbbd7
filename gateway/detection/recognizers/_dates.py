"""Expressions for written dates, with month names in several languages. RE2 syntax, any case."""

import re

from gateway.detection.entropy import word_set
from gateway.detection.recognizers._checks import is_date

MONTH_NAMES = word_set(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar jänner februar märz mai juni juli oktober dezember mär okt dez
    janvier février mars avril juin juillet août septembre octobre novembre décembre fév avr juil déc janv févr
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev out
    januari februari maart mei augustus mrt
    """
)
MONTH = "(?:" + "|".join(sorted(MONTH_NAMES, key=lambda name: (-len(name), name))) + r")\.?"
# In the form that follows the day, of languages in which only dates of birth are looked for.
_MONTHS_ABROAD = word_set(
    """
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
    ledna února března dubna května června července srpna září října listopadu prosince
    januára februára apríla mája júna júla augusta septembra októbra novembra decembra
    mars maj juni juli augusti oktober desember mai marts
    tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta
    marraskuuta joulukuuta
    ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
    ianuarie februarie martie aprilie iunie iulie septembrie octombrie noiembrie decembrie
    ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου
    δεκεμβρίου
    """
)
_YEAR = r"(?:\d{4}|'?\d{2})"
_NUMERIC = r"\d{1,4}[ ]?[./\-][ ]?\d{1,2}[ ]?[./\-][ ]?\d{1,4}|\d{1,4} \d{1,2} \d{1,4}|(?:19|20)\d{6}"
_WORDED = rf"\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?[ \-./]{{0,2}}(?:of |de |di )?{MONTH}[,/]?[ \-.]?(?:de |del |of )?{_YEAR}"
_MONTH_FIRST = rf"{MONTH}[ \-]\d{{1,2}}(?:st|nd|rd|th)?[,\-]? ?{_YEAR}"
_YEAR_FIRST = rf"\d{{4}}[ \-/]{MONTH}[ \-/]\d{{1,2}}"
DATE = rf"(?:{_NUMERIC}|{_WORDED}|{_MONTH_FIRST}|{_YEAR_FIRST})"
_ABROAD = "|".join(sorted(_MONTHS_ABROAD))
BIRTH_MONTH = f"(?:{MONTH}|{_ABROAD})"
BIRTH_DATE = rf"(?:{DATE}|\d{{1,2}}\.?[ ](?:{_ABROAD})[ ]\d{{4}})"
"""In more languages than `DATE`: next to words about a birth, it is one."""

_PARTS = re.compile(r"\d+")
# Birth years of living persons in the calendars of Thailand and Iran; in the latter, the year comes first.
_BUDDHIST_YEARS, _PERSIAN_YEARS = range(2433, 2644), range(1270, 1411)


def birth_date(value: str) -> bool | None:
    """Returns False for dates on which no living person can have been born, None for all others."""
    numbers = [int(part) for part in _PARTS.findall(value)]
    if len(numbers) == 1 and numbers[0] > 9_999_999:
        digits = str(numbers[0])
        numbers = [int(digits[:4]), int(digits[4:6]), int(digits[6:])]
    if len(numbers) == 2:  # a month name
        day, year = numbers if numbers[0] <= 31 else (numbers[1], numbers[0])
        return None if 1 <= day <= 31 and _full_year(year) else False
    if len(numbers) != 3:
        return False
    first, second, third = numbers
    if first in _PERSIAN_YEARS:
        return None if second <= 12 and third <= 31 else False
    orders = [(first, second, third)] if first > 31 else [(third, second, first), (third, first, second)]
    return None if any(is_date(_full_year(year), month, day) for year, month, day in orders) else False


def _full_year(year: int) -> int:
    """Expands a two-digit year, converts a Buddhist one. Returns 0 for one in which no living person was born."""
    if year < 100:
        return 2000 + year if year < 30 else 1900 + year
    if year in _BUDDHIST_YEARS:
        year -= 543
    return year if 1890 <= year <= 2100 else 0
