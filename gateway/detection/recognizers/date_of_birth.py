"""Dates of birth and ages, where the words around say so; a date alone says nothing about a person."""

import re

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._checks import is_date
from gateway.detection.tokens import word_set

DATE_OF_BIRTH = EntityType("DATE_OF_BIRTH", "person", "The date on which a person was born.")
AGE = EntityType("AGE", "person", "The age of a person.")

_MONTH_NAMES = word_set(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar jänner februar märz mai juni juli oktober dezember mär okt dez
    janvier février mars avril juin juillet août septembre octobre novembre décembre fév avr juil déc
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev out
    januari februari maart mei augustus
    """
)
_MONTH = "(?:" + "|".join(sorted(_MONTH_NAMES, key=len, reverse=True)) + r")\.?"
_YEAR = r"(?:\d{4}|'?\d{2})"
_NUMERIC = r"\d{1,4}[./\- ]\d{1,2}[./\- ]\d{1,4}"
_WORDED = rf"\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?[ \-.]?(?:of |de |di )?{_MONTH},?[ \-.]?(?:de |del )?{_YEAR}"
_MONTH_FIRST = rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? {_YEAR}"
_DATE = rf"((?i:{_NUMERIC}|{_WORDED}|{_MONTH_FIRST}))"

_CUE = (
    r"(?i)(?:\bd\.?o\.?b\b|\bdate[ _-]?of[ _-]?birth|\bbirth[ _-]?da(?:te|y)|\bborn\b"
    r"|\bgeburts(?:datum|tag)|\bgeboren\b|\bgeb\.|\bdate de naissance|\bné(?:e|\(e\))? le\b"
    r"|\bfecha de nacimiento|\bnacid[oa]\b|\bnació\b|\bdata di nascita|\bnat[oa] il\b"
    r"|\bdata de nascimento|\bnascid[oa]\b|\bgeboortedatum)"
)
_BETWEEN = r"[\"'\s:=,(\-*]{0,6}(?:(?i:is|was|on|am|the|le|el|il|em|op|den|ist|est|es|er|a)\b[\s:]{0,3}){0,3}[\"'(]?"
_PARTS = re.compile(r"\d+")


def _calendar_date(value: str) -> bool | None:
    numbers = [int(part) for part in _PARTS.findall(value)]
    if len(numbers) == 2:  # the month is a word
        day, year = numbers
        return None if 1 <= day <= 31 and _full_year(year) else False
    if len(numbers) != 3:
        return False
    first, second, third = numbers
    orders = [(first, second, third)] if first > 31 else [(third, second, first), (third, first, second)]
    return None if any(is_date(_full_year(year), month, day) for year, month, day in orders) else False


def _full_year(year: int) -> int:
    """Four digits for two; 0 for a year in which nobody was born who lives."""
    if year < 100:
        return 2000 + year if year < 30 else 1900 + year
    return year if 1890 <= year <= 2100 else 0


def _human_age(value: str) -> bool | None:
    return None if 0 < int(value) <= 120 else False


RECOGNIZERS = (
    PatternRecognizer(
        "birth.date",
        DATE_OF_BIRTH,
        (Pattern(_CUE + _BETWEEN + _DATE, 0.9, group=1, gate=_CUE),),
        validator=_calendar_date,
        examples=(
            Example("DOB: 04/12/1985", "04/12/1985"),
            Example('{"date_of_birth": "1985-12-04"}', "1985-12-04"),
            Example("She was born on March 3rd, 1979 in Rome.", "March 3rd, 1979"),
            Example("born the 3rd of May 1979", "3rd of May 1979"),
            Example("geboren am 12. März 1985", "12. März 1985"),
            Example("Geburtsdatum: 12.03.1985", "12.03.1985"),
            Example("née le 1er août 1990", "1er août 1990"),
            Example("fecha de nacimiento: 4 de mayo de 1990", "4 de mayo de 1990"),
        ),
        counter_examples=("born in Rome", "The release of 04/12/1985", "DOB: 99/99/1985"),
    ),
    PatternRecognizer(
        "birth.age",
        AGE,
        (
            Pattern(
                r"(?i)\b(\d{1,3})[ \-]?(?:years?|yrs?)[ \-]old\b",
                0.7,
                group=1,
                gate=r"(?i)\d[ \-]?(?:years?|yrs?)[ \-]old\b",
            ),
            Pattern(r"(?i)\b(?:aged?|alter|âge|edad)(?: is|:| of)?[\s\"':=]{1,4}(\d{1,3})\b", 0.6, group=1),
            Pattern(r"(?i)\b(\d{1,3}) (?:jahre alt|ans,? |años de edad|anni di età)", 0.6, group=1),
            Pattern(
                r"(?im)\bturn(?:s|ed|ing)? (\d{1,3})(?:[.,!?]|$| (?:today|this|next|last|tomorrow|in|on)\b)",
                0.5,
                group=1,
            ),
            Pattern(r"(?im)\bwhen (?:he|she|i|they) (?:was|were|is|am) (\d{1,3})(?:[.,;!?]|$)", 0.5, group=1),
            Pattern(r"\b(\d{1,3})[ \-]?(?:y/o|yo|y\.o\.)(?:\W|$)", 0.7, group=1),
        ),
        validator=_human_age,
        examples=(
            Example("a 47-year-old man", "47"),
            Example("Age: 31", "31"),
            Example("sie ist 52 Jahre alt", "52"),
            Example("a 47 y/o woman", "47"),
            Example("My brother just turned 32", "32"),
        ),
        counter_examples=("for 3 years", "a 900 year old oak", "page: 31", "a year old", "turn 90 degrees"),
    ),
)
