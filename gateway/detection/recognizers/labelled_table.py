"""Cells of tables whose column header names personal data."""

from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._columns import ENDINGS, TYPES, columns_of, in_cells
from gateway.detection.recognizers._tables import rows_below

# With a separator after the word, or before it at the end of the line.
_AFTER = rf"{ENDINGS}[ \"']{{0,3}}(?:[,;|\t│]|  )"
_LAST = rf"(?:[,;|\t][ \"']{{0,3}}(?:\w+[ _-])?|  ){ENDINGS}[ \"']{{0,3}}\r?\n"
_PREFILTER = f"(?i)(?:{_AFTER}|{_LAST})"
_HEADER = compile_pattern(rf"(?i)(?:{_AFTER}[^\n\d]*\n|{_LAST})")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    return in_cells(rows_below(normalized.data, _HEADER, columns_of))


RECOGNIZERS = (
    FunctionRecognizer(
        "labelled.table",
        TYPES,
        (_PREFILTER,),
        _find,
        examples=(
            Example("id,first_name,dob\n1,Zaphod,1985-12-04\n", "Zaphod", "PERSON"),
            Example("id,first_name,dob\n1,Zaphod,1985-12-04\n", "1985-12-04", "DATE_OF_BIRTH"),
            Example("name;customer_id;city\nJane Doe;K-48213;Rome", "K-48213", "CUSTOMER_ID"),
            Example("| Patient ID | Age |\n|---|---|\n| 004812 | 57 |\n", "004812", "MEDICAL_RECORD_NUMBER"),
            Example("Kundennummer\tStraße\n4711223\tAm Markt 3\n", "Am Markt 3", "STREET_ADDRESS"),
            Example("id,phone\n1,2125550134\n2,6465550177\n", "6465550177", "PHONE_NUMBER"),
            Example("City  Passport   Stay\nRome  KX204815   3\nOslo  MB771203   12", "MB771203", "ID_NUMBER"),
            Example("+----+--------+\n| id | cell   |\n+----+--------+\n| 7  | 555019 |", "555019", "PHONE_NUMBER"),
            Example("imię;nazwisko;PESEL\nJan;Zając;88100136652\n", "88100136652", "ID_NUMBER"),
            Example("Ad\tSoyad\tDoğum tarihi\nOrhan\tÇakır\t12.04.1961\n", "12.04.1961", "DATE_OF_BIRTH"),
            Example("氏名,生年月日,電話番号\n山田太郎,1961年4月12日,0352345678\n", "1961年4月12日", "DATE_OF_BIRTH"),
            Example("姓名|电话|客户编号\n王秀英|13812345678|48213077\n", "13812345678", "PHONE_NUMBER"),
            Example("الاسم;رقم العميل\nخالد المنصوري;48213077\n", "خالد المنصوري", "PERSON"),
            Example("Фамилия;Телефон\nИванова;84951234567\n", "Иванова", "PERSON"),
            Example("user;password\njdoe;Wat3rfall\nmroe;sunshine", "sunshine", "PASSWORD"),
        ),
        counter_examples=(
            "item,number,price\napple,12,3.50\n",
            "We need a name, an age, and a number.\nThat is all, really, 12.",
            "name,version\nnumpy,2.1.0\n",
            "NAME   READY   AGE\nweb-6d4cf56db6-7xk2p   1/1   5d3h\n",
            "token,pos,lemma\nrunning,VERB,run\n",
            "module.exports = {\n  login,\n  adduser,\n  get,\n}\n",
            "field,type,password\nname,string,required\n",
            "名前,種類\n東京支店,店舗\n",
            "الاسم,النوع\nقاعدة البيانات,ملف\n",
            "我的电话，地址\n都不要，谢谢\n",
        ),
    ),
)
