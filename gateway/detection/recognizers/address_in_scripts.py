"""Postal addresses in other scripts than Latin. The simpler forms are in `address_in_scripts.toml`.

Chinese, Japanese, Korean and Cyrillic addresses name places from the largest to the smallest, each with the word for
what it is, down to a house with a number: `上海市静安区南京西路1266号`, `東京都渋谷区神南1-2-3`, `ул. Ленина, д. 5`.
"""

from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers.postal_address import STREET_ADDRESS

_SCORE = 0.8
_NUMBER = r"(?:\d{1,5}|[一二三四五六七八九十百]{1,4})"

# Provinces, cities, districts and villages, then a road and a house, then buildings, units and rooms.
_CHINESE = (
    r"(?:\p{Han}{1,7}?(?:省|自治区|市|区|區|县|縣|州|镇|鎮|乡|鄉|村|新区)){0,5}"
    r"\p{Han}{1,8}?(?:路|街|道|巷|胡同)"
    rf"(?:{_NUMBER}段)?(?:\d{{1,4}}巷)?(?:\d{{1,4}}弄)?{_NUMBER} ?(?:之\d{{1,3}})?[号號](?:院|楼|樓)?"
    r"(?:\p{Han}{0,8}?[A-Z]?\d{1,4}(?:[号號][楼樓]|栋|棟|幢|座|单元|單元|室|楼|樓|层|層|房)){0,5}"
)
_CHINESE_GATE = r"[路街道巷弄段同](?:\d|[一二三四五六七八九十])[^\s,。;]*[号號]"
# Postcode, prefecture, municipality and quarter, then block and house, and perhaps a building with a room.
_BLOCK = r"(?:丁目|番地?|-|の)"
_JAPANESE = (
    r"(?:〒 ?\d{3}-\d{4} ?)?(?:(?:東京|北海|京都|大阪|\p{Han}{2,3})[都道府県] ?)?"
    r"(?:[\p{Han}\p{Katakana}ヶ]{1,7}(?:市|区|町|村|郡) ?){1,3}[\p{Han}\p{Hiragana}\p{Katakana}ヶー]{0,12} ?"
    rf"{_NUMBER}{_BLOCK}(?:{_NUMBER}(?:{_BLOCK}|号室?)?){{0,4}}"
    r"(?: ?[\p{Han}\p{Hiragana}\p{Katakana}ー・A-Za-z]{2,20} ?\d{1,4}号室?)?"
)

_JAPANESE_GATE = r"[市区町村郡][^\s、。,;]* ?(?:\d|[一二三四五六七八九十])(?:丁目|番|-|の)"

_IN_CHINESE, _IN_JAPANESE = 0, 1
_FORMS = tuple(map(compile_pattern, (_CHINESE, _JAPANESE)))
# Counters after a range of numbers: `新宿区で2-3日`.
_COUNTED = tuple(sign.encode() for sign in "日月年週回人名円億万個件時分倍点%")
# Words that Chinese writes before an address without a blank.
_LEADS = tuple(word.encode() for word in ("在", "到", "到了", "于", "於", "是", "为", "為", "址"))
# The end of the first place, which such a word precedes.
_PLACES = tuple(word.encode() for word in "省市区區县縣路街道")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for hit in hits:
        for place in _FORMS[hit].finditer(data):
            start, end = place.span()
            if hit == _IN_JAPANESE and data[end : end + 3].startswith(_COUNTED):
                continue
            if hit == _IN_CHINESE:
                start = _after_lead(data, start, end)
            yield Match(start, end, _SCORE, STREET_ADDRESS.name)


def _after_lead(data: bytes, start: int, end: int) -> int:
    first = min((at for place in _PLACES if (at := data.find(place, start, end)) >= 0), default=start)
    return max((at + len(lead) for lead in _LEADS if (at := data.rfind(lead, start, first)) >= 0), default=start)


RECOGNIZERS = (
    with_examples(__file__, "address.scripts", (STREET_ADDRESS,), (_CHINESE_GATE, _JAPANESE_GATE), _find),
    *pattern_table(__file__, (STREET_ADDRESS,)),
)
