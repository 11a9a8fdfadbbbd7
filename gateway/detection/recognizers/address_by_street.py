"""Postal addresses in Arabic, Greek, Hebrew, Thai, Devanagari and Bengali script.

Such an address begins with the word for a street, a quarter or a house and has a number: `شارع التحلية 45`,
`רחוב הרצל 25`, `οδός Ερμού 25`, `ถนนสุขุมวิท แขวงคลองเตย`, `मकान नंबर 12`.
"""

from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers.postal_address import STREET_ADDRESS

_SCORE = 0.8
_COMMA = "[,،]"


def _word(script: str, prefixes: str = "") -> str:
    """Returns what is before a word: no letters of its script but `prefixes`, which are written without a space."""
    return rf"(?:\A|[^\p{{{script}}}\p{{M}}]){prefixes}"


# A street and up to four words of its name, quarters, then a house with a flat; Arabic, Persian and Urdu.
_ARABIC_STREET = "(?:شارع|طريق|جادة|زنقة|نهج|حارة|حي|ميدان|خیابان|کوچه|بلوار|میدان|گلی|سڑک)"
_ARABIC_PART = "(?:مبنى|عمارة|بناية|رقم|منزل|بيت|شقة|فيلا|برج|طابق|الطابق|الدور|پلاک|واحد|طبقه|شماره|مکان|نمبر|فلیٹ)"
# "By way of" begins no street.
_ARABIC = (
    rf"{_word('Arabic')}عن طريق|{_word('Arabic', '[وفبلك]{0,2}(?:ال)?')}"
    rf"({_ARABIC_STREET}(?: \p{{Arabic}}+){{1,4}}(?:{_COMMA} ?{_ARABIC_STREET}(?: \p{{Arabic}}+){{1,3}}){{0,2}}"
    rf"(?:{_COMMA}? ?(?:{_ARABIC_PART}[ :]?){{0,2}}\d{{1,5}}){{1,4}}"
    rf"(?:{_COMMA} ?{_ARABIC_STREET}(?: \p{{Arabic}}+){{1,3}})?)"
)
_ARABIC_GATE = rf"{_ARABIC_STREET} [^\n\d]*\d"
_HEBREW_STREET = "(?:רחוב|רח['׳]|שדרות|שד['׳]|דרך|סמטת|כיכר)"
# No house has a number of four digits; ports and years do, and "דרך" also means "through".
_HEBREW = (
    rf"{_word('Hebrew', '[ובהלמכש]{0,3}')}({_HEBREW_STREET}(?: \p{{Hebrew}}[\p{{Hebrew}}\"'\-]*){{1,4}} \d{{1,3}}\b"
    r"(?:,? ?(?:דירה|קומה|כניסה|בניין) ?\d{1,4}){0,3})"
)
_HEBREW_GATE = rf"{_HEBREW_STREET} [^\n\d]*\d"
_GREEK_STREET = r"(?i:οδ(?:ός|ό|ού)|οδ\.|λεωφ(?:όρος|όρου|όρο|\.)|πλ(?:ατεία|ατείας|\.))"
_GREEK = (
    rf"{_word('Greek')}({_GREEK_STREET}(?: \p{{Lu}}[\p{{Greek}}.\-]*){{1,4}} \d{{1,4}}\p{{Greek}}?"
    r"(?:,? ?(?:Τ\.?Κ\.? ?)?\d{3} ?\d{2}\b)?)"
)
_GREEK_GATE = rf"{_GREEK_STREET} [^\n\d]*\d"
# A house, then at least two of village, lane, road, subdistrict, district and province, and the postcode. Prose, which
# has no spaces between words, names such parts in one run, but none behind the number of a house.
_THAI_PART = r"(?:หมู่บ้าน|ซอย|ซ\.|ถนน|ถ\.|แขวง|เขต|ตำบล|ต\.|อำเภอ|อ\.|จังหวัด|จ\.)"
_THAI_SHORT = r"(?:ซ|ถ|ต|อ|จ)\."
_THAI_NAME = r" ?[\p{Thai}\d/]{2,40}(?: \d{1,4}(?:/\d{1,4})?\b)?"
_THAI_VILLAGE = r"(?:หมู่(?:ที่)? ?\d{1,3} ?)"
_THAI = (
    rf"((?:\b\d{{1,4}}(?:/\d{{1,4}})? ?{_THAI_VILLAGE}?{_THAI_PART}{_THAI_NAME}(?: ?{_THAI_PART}{_THAI_NAME}){{1,5}}"
    rf"|{_THAI_VILLAGE}?{_THAI_PART}{_THAI_NAME}(?:(?: {_THAI_PART}|{_THAI_SHORT}){_THAI_NAME}){{1,5}})"
    r"(?: ?กรุงเทพ(?:มหานคร|ฯ)?)?(?: ?\d{5}\b)?)"
)
_THAI_GATE = rf"{_THAI_PART} ?\p{{Thai}}[^\n]*{_THAI_PART}"
# A house, flat or lane with its number, others after it, and what follows up to the postcode, if there is one.
_DEVANAGARI_NUMBER = r"(?: (?:नंबर|नं\.?|संख्या|क्रमांक))"
_DEVANAGARI_LANE = r"(?:, ?गली(?: (?:नंबर|नं\.?))? ?\d{1,4})"
_DEVANAGARI_REST = r"(?:(?:,? ?[\p{Devanagari} \d\-]{2,40}){1,5}?[ \-]{1,3}\d{6}\b)"
# "घर 5" alone is "at home at five", too.
_DEVANAGARI = (
    rf"{_word('Devanagari')}((?:(?:मकान|फ्लैट|फ़्लैट|प्लॉट|गली|सेक्टर){_DEVANAGARI_NUMBER}?|घर{_DEVANAGARI_NUMBER})"
    rf"[ :]{{1,2}}\d{{1,5}}{_DEVANAGARI_LANE}?{_DEVANAGARI_REST}?"
    rf"|घर \d{{1,5}}(?:{_DEVANAGARI_LANE}{_DEVANAGARI_REST}?|,{_DEVANAGARI_REST}))"
)
_DEVANAGARI_GATE = r"(?:मकान|फ्लैट|फ़्लैट|प्लॉट|घर|गली|सेक्टर)[ :][^\n\d]*\d"
_BENGALI = (
    rf"{_word('Bengali')}((?:বাড়ি|বাসা|ফ্ল্যাট|হোল্ডিং|রোড|সড়ক)(?: (?:নং|নম্বর))?[ :#]{{1,2}}\d{{1,4}}"
    r"(?:, ?(?:রোড|সড়ক)(?: (?:নং|নম্বর))? ?\d{1,4})?(?:(?:,? ?[\p{Bengali} \d\-]{2,40}){1,5}?[ \-]{1,3}\d{4}\b)?)"
)
_BENGALI_GATE = r"(?:বাড়ি|বাসা|ফ্ল্যাট|হোল্ডিং|রোড|সড়ক) [^\n\d]*\d"

_FORMS = tuple(map(compile_pattern, (_ARABIC, _HEBREW, _GREEK, _THAI, _DEVANAGARI, _BENGALI)))


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        for place in _FORMS[hit].finditer(normalized.data):
            if place[1]:
                yield Match(*place.span(1), _SCORE, STREET_ADDRESS.name)


RECOGNIZERS = (
    FunctionRecognizer(
        "address.by_street",
        (STREET_ADDRESS,),
        (_ARABIC_GATE, _HEBREW_GATE, _GREEK_GATE, _THAI_GATE, _DEVANAGARI_GATE, _BENGALI_GATE),
        _find,
        examples=(
            Example("العنوان: شارع التحلية 45، حي العليا، الرياض", "شارع التحلية 45، حي العليا"),
            Example("أسكن في شارع الملك فهد، مبنى 12، شقة 4 منذ سنة", "شارع الملك فهد، مبنى 12، شقة 4"),
            Example("تهران، خیابان ولیعصر، کوچه لاله، پلاک ۱۲، واحد ۳", "خیابان ولیعصر، کوچه لاله، پلاک ۱۲، واحد ۳"),
            Example("أرسلها عن طريق البريد إلى شارع التحلية 45", "شارع التحلية 45"),
            Example("يسكن بشارع التحلية 45", "شارع التحلية 45"),
        ),
        counter_examples=(
            "في شارع جانبي هادئ",
            "برنامج سياحي لمدة 7 أيام",
            "يمكنك الاتصال عن طريق المنفذ 8080",
            "ניתן להתחבר דרך פורט 8080",
        ),
    ),
)
