"""Dates of birth, identified by context words: a date alone is not personal."""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._dates import DATE, birth_date

DATE_OF_BIRTH = EntityType("DATE_OF_BIRTH", "person", "The date on which a person was born.")

_CUE = (
    r"(?i)(?:\bd\.?o\.?b\b|\bdate[ _-]?of[ _-]?birth|birth[ _-]?da(?:te|y)|\bborn\b|\bbirth\b|\bb-?day\b"
    r"|\bgeburts(?:datum|tag)|\bgeboren\b|\bgeb\.|\bgeb(?:urts)?\.?-?dat(?:um|\.)?|\bdate[ _]de[ _]naissance"
    r"|\bn[ée](?:e|\(e\)|\.e|·e)? le\b|\bnaissance\b"
    r"|\bfecha[ _](?:de[ _])?nac(?:imiento|\.)|\bf\. ?nac\.|\bnacid[oa]\b|\bnac(?:ió|í)|\bdata[ _]di[ _]nascita"
    r"|\bnat[oa](?:/a)? (?:il|a|in)\b|\bdata[ _]de[ _]nasc(?:imento|\.)?|\bnascid[oa]\b|\bnasc(?:eu|i)\b"
    r"|\bgeboorte(?:datum|dag)|\bgeb\b|\bdata urodzenia|\burodzon[ya]|\bur\.|\bdoğum tarihi|\bfödd\b|\bfödelsedatum"
    r"|\bfødt\b|\bfødselsdato|\bsyntymäaika|\bs(?:yntynyt|ynt\.)|\bnarozen[aáýí]?\b|\bdatum narození|\bnar\."
    r"|\bszületett|\bszületési (?:dátum|idő)|\bszül\.|\bdata nașterii|\bdatum rođenja|\bдата (?:рождения|народження)"
    r"|ημερομηνία γέννησης)"
)
_SEPARATOR = (
    r"[\"'\s:=,(\-*.\])>|]{0,8}"
    r"(?:(?i:is|was|on|am|the|le|el|il|em|op|den|der|die|ist|est|es|er|a|é|è|of|date|day)\b[\s:.]{0,3}){0,3}[\"'(]?"
)
# A place before the date: "born in Rome on 3 March 1979".
_PLACE = r"(?:[ ](?i:in|at|à|en|a|em|te)[ ][^\d\n]{2,40}?[ ,](?i:on|am|le|el|il|em|op|,)[ ]|)"


RECOGNIZERS = (
    PatternRecognizer(
        "birth.date",
        DATE_OF_BIRTH,
        (
            Pattern(
                _CUE + _PLACE + _SEPARATOR + rf"((?i:{DATE}))(?:\b|T\d)",
                0.9,
                group=1,
                prefilter=_CUE + r"[^\d;]*\d",
            ),
        ),
        validator=birth_date,
        examples=(
            Example("DOB: 04/12/1985", "04/12/1985"),
            Example('{"date_of_birth": "1985-12-04"}', "1985-12-04"),
            Example('{"birthDate": "1985-12-04T00:00:00Z"}', "1985-12-04"),
            Example("<dob>12-Mar-1985</dob>", "12-Mar-1985"),
            Example("She was born on March 3rd, 1979 in Rome.", "March 3rd, 1979"),
            Example("He was born in Rome on 3 March 1979.", "3 March 1979"),
            Example("born the 3rd of May 1979", "3rd of May 1979"),
            Example("My birthday is the 3rd of May 1979", "3rd of May 1979"),
            Example("geboren am 12. März 1985", "12. März 1985"),
            Example("Geburtsdatum: 12.03.1985", "12.03.1985"),
            Example("Geb.-Datum 12.03.85", "12.03.85"),
            Example("née le 1er août 1990", "1er août 1990"),
            Example("fecha de nacimiento: 4 de mayo de 1990", "4 de mayo de 1990"),
            Example("nata il 7 luglio 1988", "7 luglio 1988"),
            Example("Data de nascimento - 07/07/1988", "07/07/1988"),
            Example("geboortedatum 7 juli 1988", "7 juli 1988"),
        ),
        counter_examples=(
            "born in Rome",
            "The release of 04/12/1985",
            "DOB: 99/99/1985",
            "born in 27 BC",
            "Birth rate: 12.3",
        ),
    ),
)
