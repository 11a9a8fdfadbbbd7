"""Turkey, Israel, Iran and the Arabian peninsula."""

from gateway.detection.recognizers._numbers import checks_world as checks
from gateway.detection.recognizers._numbers.checks import varied
from gateway.detection.recognizers._numbers.number import COMPANY, PERSON, PHONE, TAX, VEHICLE, Number

_TR_TEL = "telefon, telefon numarası, cep, gsm, phone, ara, numaram, tel"

# fmt: off
NUMBERS = (
    Number(PERSON, "TR_NATIONAL_ID", "The identity number of a person in Turkey.",
           "###########, ### ### ### ##", "tr.tckimlik", 0.4,
           "tc kimlik, t.c. kimlik, tckn, kimlik no, kimlik numarası, tc no, t.c. no, turkish id", "19670818976"),
    Number(TAX, "TR_VKN", "The taxpayer number of a person or company in Turkey.",
           "##########", "tr.vkn", 0.15, "vkn, vergi kimlik, vergi no, vergi numarası", "0904766013"),
    Number(PHONE, "TR_PHONE_NUMBER", "A telephone number of Turkey.",
           "+90##########, +90 ### ### ## ##, +90-###-###-##-##, +90 (###) ### ## ##, +90 ### ### ####", None, 0.8,
           _TR_TEL, "+90 532 123 45 67"),
    Number(PHONE, "TR_PHONE_NUMBER", "A telephone number of Turkey.",
           "0##########, 0 ### ### ## ##, 0-###-###-##-##, 0### ### ## ##, 0(###) ### ## ##, 0 (###) ### ## ##",
           checks.tr_phone, 0.2, _TR_TEL, "0532 123 45 67"),
    Number(PHONE, "TR_PHONE_NUMBER", "A telephone number of Turkey.",
           "5#########, 4#########, 3#########, 2#########, 5## ### ## ##, 5##.###.##.##", checks.tr_phone, 0.05,
           _TR_TEL, "532 123 45 67"),
    Number(VEHICLE, "TR_LICENSE_PLATE", "The registration of a vehicle in Turkey.",
           "##~@~####, ##~@@~###, ##~@@~##, ##~@@~####, ##~@@@~##, ##~@@@~###, ##~@@@~####, ##~@~##, ##~@~#####",
           checks.tr_plate, 0.2, "plaka, plakası, plakalı, license plate, araç", "34 ABC 123", grouped=0.25),
    Number(PERSON, "IL_ID", "The identity number of a person in Israel.",
           "#########, ########-#", "il.idnr", 0.1,
           "תעודת זהות, ת.ז., מספר זהות, ת\"ז, teudat zehut, mispar zehut, israeli id", "784052110", grouped=0.35),
    Number(COMPANY, "IL_COMPANY", "The number of a company in Israel.",
           "5########", "il.hp", 0.15, "ח.פ., מספר חברה, ח\"פ, israeli company", "593546419"),
    Number(PERSON, "IR_NATIONAL_ID", "The national code of a person in Iran.",
           "##########, ###-######-#", checks.ir_person, 0.15, "کد ملی, شماره ملی, code melli, iranian national",
           "3596108071", grouped=0.6),
    Number(PERSON, "AE_EMIRATES_ID", "The Emirates ID of a person.",
           "784-####-#######-#, 784############, 784 #### ####### #", checks.ae_person, 0.85,
           "emirates id, الهوية, هوية, eid", "784-1978-0202362-8"),
    Number(PERSON, "SA_NATIONAL_ID", "The identity or residence number of a person in Saudi Arabia.",
           "1#########, 2#########", checks.luhn_varied, 0.15,
           "الهوية الوطنية, رقم الهوية, iqama, إقامة, saudi id, هوية", "1160753016"),
    Number(PERSON, "KW_CIVIL_ID", "The civil ID of a person in Kuwait.",
           "############", checks.kw_person, 0.3, "civil id, الرقم المدني, البطاقة المدنية, kuwait",
           "199103011045"),
    Number(PERSON, "QA_ID", "The identity number of a person in Qatar.",
           "2##########, 3##########", varied, 0.03, "qid, qatar id, qatari id, البطاقة الشخصية", "26490212732"),
)
# fmt: on
