"""Words that announce a person's name, in several languages. RE2 syntax, any case."""

from dataclasses import dataclass

TITLES = (
    r"(?:mr|mrs|ms|miss|mx|dr|prof|professor|doctor|sir|rev|capt|sgt|lt|col|gen|hon|fr|hr|herrn?|frau|fräulein"
    r"|dipl|ing|mme|mlle|monsieur|madame|mademoiselle|maître|sr|sra|srta|señora?|señorita|don|doña|sig|sig\.ra"
    r"|signora?|dott|dott\.ssa|dhr|mevr|mw|mudr|judr|phdr)"
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that announce a name, and what the name must look like.

    `words` is the minimum number of words. `lower` allows lower case. After a `weak` cue, which may announce anything,
    the name itself must look like one. A `field` is a form or data field with many uses: it requires a common name, or
    other personal data nearby.
    """

    regex: str
    score: float
    words: int = 1
    lower: bool = False
    weak: bool = False
    field: bool = False


INTRODUCTION = Cue(
    r"\b(?:my (?:full |first |last )?names?(?: is|'s|:)"
    r"|(?:his|her|their|patient'?s?|customer'?s?|client'?s?) (?:full )?names? (?:is|was)"
    r"|(?:i am|they) call(?:ed)? me|mein name ist|ich heiße|ich heisse|je m'appelle|mon nom est"
    r"|me llamo|mi nombre es|mi chiamo|il mio nome è|meu nome é|me chamo|mijn naam is|ik heet)[ \t]+",
    0.9,
    lower=True,
)
I_AM = Cue(r"\b(?:i'm|i am|this is|ich bin|je suis|(?:yo )?soy|sono|ik ben)[ \t]+", 0.5, lower=True, weak=True)
SALUTATION = Cue(
    r"\b(?:dear|hi|hello|hey|hallo|liebe|lieber|liebes|cher|chère|estimad[oa]|querid[oa]|prezad[oa]|hola|bonjour|beste"
    r"|caro|cara|ciao)[ \t]+",
    0.8,
)
GREETING = Cue(r"\b(?:good (?:morning|afternoon|evening)|guten (?:morgen|tag|abend)|sehr geehrte[rs]?)[ \t]+", 0.7)
TITLE = Cue(rf"\b{TITLES}\b\.?[ \t]+", 0.85)
KIN = Cue(
    r"\b(?:uncle|aunt(?:ie|y)?|grand(?:ma|pa|mother|father)|granny|onkel|tante|oma|opa|t[íi]o|t[íi]a|abuel[oa]|nonn[oa]"
    r"|zi[oa]|tonton|mamie|oom|babcia|dziadek|ciocia|wujek|husband|wife|daughter|m[aè]re|p[eè]re|fr[eè]re|madre|padre"
    r"|herman[oa]|hij[oa]|marido|m[ãa]e|irm[ãa]o?|filh[oa]|sorella|fratello|figli[oa]|moeder|vader|broer|zus|dochter|zoon"
    r"|eheleute|ehepaar|mamma|pappa|s[øy]ster|matka|ojciec|siostra)[ \t]+",
    0.7,
)
# In languages that capitalize nouns, the name itself must look like one.
KIN_OR_COLLEAGUE = Cue(
    r"\b(?:mutter|vater|bruder|schwester|tochter|sohn|ehemann|ehefrau|kolleg(?:e|en|in)|azubi|praktikant(?:in)?)[ \t]+",
    0.6,
    weak=True,
)
SIGNATURE = Cue(
    r"(?:\b(?:regards|sincerely(?: yours)?|cheers|thanks(?: again)?|thank you|best(?: wishes)?"
    r"|yours (?:truly|faithfully|sincerely)|respectfully|love|warmly|grüßen?|gruß|grüsse|lg|mfg|vg"
    r"|cordialement|bien à vous|salutations|saludos|atentamente|abrazos|saluti|groet(?:en)?)"
    r",?[ \t]*\r?\n\s{0,4}|\b(?:(?:signed|gezeichnet)(?: ?[,:] ?(?:by )?| by:? )|gez\. ?))(?:[-–][ \t]*)?",
    0.8,
)
_BEFORE_KEY = r"(?:^|[\n,;{(|>])[\"' \t*_-]*"
_AFTER_KEY = r"[\"'*_]*[ \t]*[:=][ \t\"'*]*"
FIELD = Cue(
    rf"{_BEFORE_KEY}(?:patients?|employees?|applicants?|candidates?|contact person|insured|tenants?|borrowers?|guests?"
    r"|passengers?|policyholder|beneficiary"
    r"|(?:full|patient|client|customer|employee|applicant|contact|account|cardholder|card holder|holder"
    r"|billing|recipient|legal|maiden|spouse|emergency contact)[ _-]?name"
    rf"|nom complet|nombre completo|kunde|kundin|patientin|mitarbeiter(?:in)?|versicherte[r]?|cardholder){_AFTER_KEY}",
    0.75,
    words=2,
)
ANY_FIELD = Cue(
    rf"{_BEFORE_KEY}(?:clients?|customers?|contact|name|nom|nombre|nome|naam|recipient|sender|author|attn|from|to|cc"
    rf"|bcc){_AFTER_KEY}",
    0.75,
    words=2,
    field=True,
)
NAME_FIELD = Cue(
    r"\b(?:first|last|given|family|middle|maiden|sur|fore|vor|nach|familien|ruf|pré|ape)[ _-]?"
    r"(?:name|nom|llidos?)[\"'*_]*[ \t]*[:=][ \t\"'*]*",
    0.8,
    lower=True,
)

CUES = (INTRODUCTION, I_AM, SALUTATION, GREETING, TITLE, KIN, KIN_OR_COLLEAGUE, SIGNATURE, FIELD, ANY_FIELD, NAME_FIELD)
