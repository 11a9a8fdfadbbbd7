"""Ages of people, identified by context words: a number of years alone is a duration.

The span is the number, including its unit unless that is years.
"""

from gateway.detection.alphabet import LETTERS
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

AGE = EntityType("AGE", "person", "The age of a person.")

_MAX_AGE = 120
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORDS = rf"(?:(?:{_TENS})(?:[ \-](?:{_ONES}))?|(?:thir|four|fif|six|seven|eigh|nine)teen|ten|eleven|twelve|{_ONES})"
_PERSON = (
    r"(?:man|woman|boy|girl|male|female|patient|child|son|daughter|homme|femme|patiente|gar[çc]on|fille|enfant"
    r"|[âa]g[ée]e?"
    r"|fils|hombre|mujer|paciente|niñ[oa]|hij[oa]|var[óo]n|uomo|donna|paziente|ragazz[oa]|bambin[oa]|figli[oa]|signora?"
    r"|homem|mulher|menin[oa]|crian[çc]a|filh[oa]|rapaz|senhora?)"
)


def _human_age(value: str) -> bool | None:
    digits = "".join(char for char in value if char.isdigit())
    return None if not digits or 0 < int(digits) <= _MAX_AGE else False


RECOGNIZERS = (
    PatternRecognizer(
        "age.english",
        AGE,
        (
            Pattern(r"(?i)\b(\d{1,3})[ \-]?(?:years?|yrs?|yr\.)[ \-](?:old\b|of age\b|young\b)", 0.7, group=1),
            Pattern(rf"(?i)\b({_WORDS})[ \-]years?[ \-]old\b", 0.6, group=1),
            Pattern(r"(?i)\b(\d{1,2}[ \-](?:months?|mos?|weeks?|wks?|days?))[ \-]old\b", 0.6, group=1),
            Pattern(r"(?i)\b(\d{1,3})[ \-]?(?:y/o|yo|y\.o\.?|y-o)(?:[ ]?[mf])?(?:\W|$)", 0.7, group=1),
            Pattern(r"(?i)\b(\d{1,3})[ ]?(?:yr|year)s?[ ]+(?:man|woman|boy|girl|male|female)\b", 0.6, group=1),
            Pattern(
                r"(?i)(?:^|[^\w\-.$])(?:aged?|ages)(?: is|:| of| at [a-z]+ was)?[\s\"':=>|*]{1,5}(\d{1,3})"
                r"(?:[\s\"',.;:!?)<|/*}\]]|$)",
                0.6,
                group=1,
                prefilter=rf"(?i)\b(?:aged?|ages)(?: is| of| at [a-z]+ was)?[^{LETTERS}\d]+\d",
            ),
            Pattern(r"(?i)\bage[ ]?/[ ]?(?:sex|gender)\W{1,3}(\d{1,3})", 0.7, group=1),
            Pattern(
                r"(?im)\bturn(?:s|ed|ing)? (\d{1,3})(?:[.,!?]|$| (?:today|this|next|last|tomorrow|in|on|years)\b)",
                0.5,
                group=1,
                prefilter=r"(?i)\bturn(?:s|ed|ing)? \d",
            ),
            Pattern(
                r"(?im)\b(?:when (?:he|she|i|they) (?:was|were|is|am|turned)|(?:retired|died"
                r"|passed away) at) (\d{1,3})(?:[.,;!?)]|$)",
                0.5,
                group=1,
            ),
            Pattern(
                r"(?im)\b(?:i'm|i am|he's|he is|she's|she is|who is|who's) (?:now |only |just |almost )?(\d{1,3})"
                r"(?:[.,;!?)]|$| and\b| but\b| now\b| years\b(?:[.,;!?)]|$))",
                0.4,
                group=1,
            ),
            Pattern(
                r"\b(?:[Ii]|[Mm]e|[Mm]y [a-z]+|[Hh]e|[Ss]he)[ ]?[(\[][ ]?(\d{2})[ ]?/?[ ]?[MFmf][)\]]", 0.7, group=1
            ),
            Pattern(
                r"\b(?:[Ii]|[Mm]e|[Mm]y [a-z]+|[Hh]e|[Ss]he)[ ]?[(\[][ ]?[MFmf][ ]?/?[ ]?(\d{2})[)\]]", 0.7, group=1
            ),
            Pattern(
                r"\b(\d{1,3})[ ]?(?:[MF]|(?i:male|female))[ ,]+(?i:pt|patient|with|w/|presents?|presenting"
                r"|presented|c/o|s/p|hx"
                r"|h/o|who|came|admitted|complain\w*)\b",
                0.6,
                group=1,
            ),
        ),
        validator=_human_age,
        examples=(
            Example("a 47-year-old man", "47"),
            Example("a thirty-four-year-old teacher", "thirty-four"),
            Example("our 8-month-old daughter", "8-month"),
            Example("a 47 y/o woman", "47"),
            Example("62yo F with chest pain", "62"),
            Example("Age: 31", "31"),
            Example('{"age": 31}', "31"),
            Example("Age/Sex: 31/F", "31"),
            Example("aged 34, she", "34"),
            Example("at the age of 72", "72"),
            Example("My brother just turned 32", "32"),
            Example("I (34M) and my wife (F31) argue", "34"),
            Example("54M presents with cough", "54"),
            Example("I'm 34 and I live in Rome", "34", score=0.4),
        ),
        counter_examples=(
            "for 3 years",
            "a 900 year old oak",
            "page: 31",
            "a year old",
            "turn 90 degrees",
            "Cache-Control: max-age=60",
            "a 10-year plan",
            "I'm 100% sure",
            "34M records",
        ),
    ),
    PatternRecognizer(
        "age.languages",
        AGE,
        (
            Pattern(
                r"(?i)\b(\d{1,3}) ?(?:jahre alt|jaar oud|años de edad|anni di età|anos de idade|ans révolus)\b",
                0.7,
                group=1,
            ),
            Pattern(r"(?i)\b(\d{1,3})[ \-]?(?:jährig|jaehrig|jarig)[a-z]{0,2}\b", 0.7, group=1),
            Pattern(r"(?i)\b(\d{2})enn[ei]\b", 0.6, group=1),
            Pattern(
                rf"(?i)(?:^|[^{LETTERS}\-_])(?:im alter von|alter|âge|edad|età|idade|leeftijd|âgée? de|à l'âge de"
                r"|a la edad de"
                r"|all'età di|aos)"
                r"[\s\"':=>|*]{1,5}(\d{1,3})\b",
                0.6,
                group=1,
                prefilter=rf"(?i)(?:^|[^{LETTERS}\-_])(?:alter|âge|âgée?|edad|età|idade|leeftijd|aos)(?: de| di"
                rf"| von)?[^{LETTERS}\d]+\d",
            ),
            Pattern(
                r"(?i)\b(?:j'ai|il a|elle a|a eu|tengo|tiene|tenía|cumpl(?:e|o|ió)|ho|ha|compi(?:e|o)|tenho|tem"
                r"|ben|is|werd|wordt)"
                r" (\d{1,3}) (?:ans|años|anni|anos|jaar)(?:[.,;!?)]|$| (?:et|y|e|en|ed)\b)",
                0.6,
                group=1,
                prefilter=r"(?i) \d{1,3} (?:ans|años|anni|anos|jaar)\b",
            ),
            Pattern(
                rf"(?i)\b{_PERSON}(?:,| de| di| von| van)? ?(?:de |di |von |van )?(\d{{1,3}}) (?:ans|años|anni"
                rf"|anos|jaar|jahren)\b",
                0.6,
                group=1,
                prefilter=r"(?i)\d (?:ans|años|anni|anos|jaar|jahren)\b",
            ),
        ),
        validator=_human_age,
        examples=(
            Example("sie ist 52 Jahre alt", "52"),
            Example("Ein 34-jähriger Mann", "34"),
            Example("Alter: 34", "34"),
            Example("j'ai 34 ans et je vis à Lyon", "34"),
            Example("une femme de 34 ans", "34"),
            Example("tengo 34 años.", "34"),
            Example("hombre de 45 años de edad", "45"),
            Example("ho 34 anni e vivo a Roma", "34"),
            Example("un 34enne di Milano", "34"),
            Example("tenho 34 anos.", "34"),
            Example("hij is 34 jaar oud", "34"),
            Example("een 34-jarige vrouw", "34"),
        ),
        counter_examples=(
            "depuis 10 ans",
            "hace 10 años",
            "da 10 anni",
            "vor 10 Jahren",
            "al 10 jaar",
            "garantía de 2 años",
        ),
    ),
)
