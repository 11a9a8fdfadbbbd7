"""Names of people where plain words announce them: introductions, salutations, titles, signatures, and fields of forms.

Titles and possessives stay outside the span. Written in lower case, a name is believed after "my name is", or when it begins
with a common given name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._given_names import GIVEN_NAMES
from gateway.detection.recognizers._no_names import NO_NAMES
from gateway.detection.view import View

PERSON = EntityType("PERSON", "person", "The name of a person.")

_PARTICLE = r"(?:van|von|der|den|de|del|della|di|da|dos|das|do|du|la|le|los|las|bin|binti|ibn|al|el|ter|ten|zu|zur|vom|af|av|y|e|st\.|d'|D')"
_CAPITAL = r"(?:\p{Lu}[\p{L}\p{M}]*(?:['\-]\p{L}[\p{L}\p{M}]*)*)"
_INITIAL = r"(?:\p{Lu}\.)"
_NAME = rf"(?:(?:{_INITIAL}|{_CAPITAL})(?:(?:[ \t]+{_PARTICLE}){{0,3}}[ \t]+(?:{_INITIAL}|{_CAPITAL})){{0,4}})"
_ANY_CASE = r"(?:\p{L}[\p{L}\p{M}'\-]*\.?(?:[ \t]+\p{L}[\p{L}\p{M}'\-]*){0,3})"
_TITLES = (
    r"(?:mr|mrs|ms|miss|mx|dr|prof|professor|doctor|sir|rev|capt|sgt|lt|col|gen|hon|fr|hr|herrn?|frau|fräulein|dipl|ing|mme|mlle"
    r"|monsieur|madame|mademoiselle|maître|sr|sra|srta|señora?|señorita|don|doña|sig|sig\.ra|signora?|dott|dott\.ssa|dhr|mevr|mw)"
)
_TITLED = rf"(?:(?i:{_TITLES})\b\.?[ \t]+)"


@dataclass(frozen=True, slots=True)
class _Cue:
    """What announces a name. `words`: how many it must have at least; `lower`: whether it may be written in lower case."""

    regex: str
    score: float
    words: int = 1
    lower: bool = False
    after: str = ""


_INTRODUCTION = (
    r"\b(?:my (?:full |first |last )?names?(?: is|'s|:)|(?:his|her|their|patient'?s?|customer'?s?|client'?s?) (?:full )?names? (?:is|was)"
    r"|(?:i am|they) call(?:ed)? me|name's|mein name ist|ich heiße|ich heisse|je m'appelle|mon nom est|me llamo|mi nombre es|mi chiamo"
    r"|il mio nome è|meu nome é|me chamo|mijn naam is|ik heet)"
)
_CUES = (
    _Cue(rf"{_INTRODUCTION}[ \t]+", 0.9, lower=True),
    _Cue(r"\b(?:i'm|i am|this is|ich bin|je suis|(?:yo )?soy|sono|ik ben)[ \t]+", 0.5, lower=True),
    _Cue(r"\b(?:dear|hi|hello|hey|hallo|liebe|lieber|liebes|cher|chère|estimad[oa]|querid[oa]|hola|bonjour|beste|caro|cara|ciao)[ \t]+", 0.8),
    _Cue(r"\b(?:good (?:morning|afternoon|evening)|guten (?:morgen|tag|abend)|sehr geehrte[rs]?)[ \t]+", 0.7),
    _Cue(rf"\b{_TITLES}\b\.?[ \t]+", 0.85),
    _Cue(
        r"(?:\b(?:regards|sincerely(?: yours)?|cheers|thanks(?: again)?|thank you|best(?: wishes)?|yours (?:truly|faithfully|sincerely)|respectfully|love|warmly"
        r"|grüßen?|gruß|grüsse|lg|mfg|vg|cordialement|bien à vous|salutations|saludos|atentamente|abrazos|saluti|groet(?:en)?),?[ \t]*\r?\n\s{0,4}"
        r"|\b(?:signed|gezeichnet|gez\.)[ ,:]+(?:by )?)(?:[-–][ \t]*)?",
        0.8,
    ),
    _Cue(
        r"(?:^|[\n,;{(|>])[\"' \t*_-]*(?:patients?|clients?|customers?|employees?|applicants?|candidates?|contact(?: person)?|insured|tenants?|borrowers?|guests?|passengers?|policyholder|beneficiary"
        r"|(?:full|patient|client|customer|employee|applicant|contact|account|cardholder|card holder|holder|billing|recipient|legal|maiden|spouse|emergency contact)[ _-]?name"
        r"|name|nom(?: complet)?|nombre(?: completo)?|nome|naam|kunde|kundin|patientin|mitarbeiter(?:in)?|versicherte[r]?|cardholder|recipient|sender|author|attn|from|to|cc|bcc)[\"'*_]*[ \t]*[:=][ \t\"'*]*",
        0.75,
        words=2,
    ),
    _Cue(
        r"\b(?:first|last|given|family|middle|maiden|sur|sir|fore|vor|nach|familien|ruf|pré|ape)[ _-]?(?:name|nom|llidos?)[\"'*_]*[ \t]*[:=][ \t\"'*]*",
        0.8,
        lower=True,
    ),
)
_GATES = tuple(f"(?i){cue.regex}" for cue in _CUES)
_PLACES = tuple(compile_pattern(gate) for gate in _GATES)
_NAMES = tuple(compile_pattern(rf"{_TITLED}*({_ANY_CASE if cue.lower else _NAME})") for cue in _CUES)
_LONGEST = 160
_PART = compile_pattern(r"[^ \t]+")
_LOWER_PARTICLES = frozenset("van von der den de del della di da dos das do du la le los las bin binti ibn al el ter ten zu vom y e".split())
_TITLE_WORDS = frozenset(
    "mr mrs ms miss mx dr prof professor doctor sir rev herr herrn frau mme mlle monsieur madame sr sra srta señor señora don doña".split()
)
_WEAK_CUE = 1
_ENDS = frozenset(b"\n\r.,;:!?)\"]}>-")


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    data = view.data
    for hit in hits:
        for place in _PLACES[hit].finditer(data):
            match = _NAMES[hit].match(data, place.end(), place.end() + _LONGEST)
            found = match and _name(view, *match.span(1), _CUES[hit], weak=hit == _WEAK_CUE)
            if found:
                yield found


def _name(view: View, start: int, end: int, cue: _Cue, *, weak: bool) -> Match | None:
    """Takes the words that belong to a name from the beginning of the span; none, when the first is no name."""
    words: list[str] = []
    last = start
    for part in _PART.finditer(view.data, start, end):
        word = part[0].decode()
        bare = word.removesuffix("'s").removesuffix("'")
        if bare.lower() in NO_NAMES and not (words and bare in _LOWER_PARTICLES):
            break
        if words and not cue_allows(words, bare):
            break
        words.append(bare)
        last = part.start() + len(bare.encode())
        if bare != word or (word[-1:] == "." and len(word) > 2):
            break
    while words and words[-1].lower() in _LOWER_PARTICLES:
        last = view.data.rfind(b" ", start, last)
        words.pop()
    if len(words) < cue.words or not words or words[0].lower() in _TITLE_WORDS:
        return None
    if words[-1][-1:] == "." and len(words[-1]) > 2:
        last -= 1
    score = _believed(words, cue, view.data[last : last + 1], weak=weak)
    return None if score is None else Match(start, last, score, PERSON.name)


def cue_allows(words: list[str], word: str) -> bool:
    """Whether `word` can go on a name: one that began with a capital goes on so, but for particles."""
    if words[0][0].isupper():
        return word[0].isupper() or word in _LOWER_PARTICLES
    return len(words) < 3 and word[0].islower()


def _believed(words: list[str], cue: _Cue, after: bytes, *, weak: bool) -> float | None:
    known = words[0].lower() in GIVEN_NAMES
    capital = words[0][0].isupper()
    if len("".join(words)) < 2 or (len(words) == 1 and words[0].isupper() and len(words[0]) > 12):
        return None
    if weak:
        if known:
            return 0.8 if capital or len(words) > 1 else 0.6
        if not capital or words[0].isupper():
            return None
        return 0.6 if len(words) > 1 else 0.4 if after in {b"", b",", b".", b"!"} else None
    if capital:
        return min(1.0, cue.score + (0.05 if known else 0.0))
    if known:
        return cue.score - 0.1
    return cue.score - 0.4 if after == b"" or after[0] in _ENDS else None


RECOGNIZERS = (
    FunctionRecognizer(
        "person.announced",
        (PERSON,),
        _GATES,
        _find,
        examples=(
            Example("Hello, my name is Jane Doe and I live here.", "Jane Doe"),
            Example("my name is john smith", "john smith"),
            Example("my name is john and I need help", "john"),
            Example("my name's O'Brien-Smith.", "O'Brien-Smith"),
            Example("I'm Sarah, nice to meet you", "Sarah"),
            Example("Dear Ms. Berg,", "Berg"),
            Example("Dear Jane,\nthank you", "Jane"),
            Example("Mr. John F. Kennedy's speech", "John F. Kennedy"),
            Example("Best regards,\nJane Doe\nCEO", "Jane Doe"),
            Example("Patient: Max Mustermann, born", "Max Mustermann"),
            Example('{"name": "Jane Doe"}', "Jane Doe"),
            Example("First name: Zaphod", "Zaphod"),
            Example("Sehr geehrter Herr Müller,", "Müller"),
            Example("ich heiße Jürgen Groß.", "Jürgen Groß"),
            Example("je m'appelle Ségolène Dupont", "Ségolène Dupont"),
            Example("me llamo Juan de la Cruz", "Juan de la Cruz"),
            Example("Estimada Sra. García:", "García"),
        ),
        counter_examples=(
            "Dear Sir or Madam,",
            "I'm sorry, I'm happy, I'm Canadian and this is important.",
            "my name is on the list",
            "my name is too long to fit",
            "Hi there! Hello World",
            "Best regards,\nThe Support Team",
            "name: nginx",
            '{"name": "get_weather"}',
            "this is fine",
            "Dear Customer,",
            "Sehr geehrte Damen und Herren,",
        ),
    ),
)
