"""Passwords after the word for it, in the languages and scripts that `said_secret` does not speak."""

from collections.abc import Iterator, Sequence

from gateway.detection.entropy import phrases
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._said_words import NO_VALUE
from gateway.detection.recognizers._secret_values import is_chosen, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD

_WORDS = "|".join(
    phrases(
        "has[łl](?:o|em|a), hesl(?:o|em|a), lösenord(?:et)?, adgangskode(?:n)?, kodeord(?:et)?, passord(?:et)?,"
        " jelsz(?:ó|ava), salasana(?:ni)?, parol[ăa](?:m|sı|nız)?, şifre(?:m|si|niz|miz)?, lozinka, geslo,"
        " (?:moja|naša|vaša|nova|wi-?fi) šifra,"
        " slaptažodis, parool, mật khẩu, kata (?:sandi|laluan), парол[ьяею](?:м)?, парола, гасло, лозинка,"
        " κωδικός πρόσβασης, contrasenya, wagwoord, fjalëkalimi?, lykilorð, գաղտնաբառ, პაროლი,"
        " סיסמ[הא], كلمة (?:المرور|السر), رمز عبور, पासवर्ड, পাসওয়ার্ড, รหัสผ่าน,"
        " 密码, 密碼, 口令, パスワード, 暗証番号, 비밀번호, 비번, 암호, 패스워드"
    )
)
_CODE_WORDS = "|".join(
    phrases(
        "пин-?код, код (?:подтверждения|доступа|безопасности|підтвердження), kod (?:pin|weryfikacyjny),"
        " ověřovací kód, pin[ -]?kod(?:u|en)?, doğrulama kodu, verifi(?:erings|kations)kode?n?, engangskode,"
        " κωδικός (?:επαλήθευσης|επιβεβαίωσης|pin), mã (?:xác (?:nhận|minh|thực)|pin|otp), kode (?:verifikasi|otp),"
        " קוד (?:אימות|סודי), الرقم السري, رمز (?:التحقق|التأكيد), ओटीपी, รหัส (?:otp|pin),"
        " 验证码, 驗證碼, 認証コード, 確認コード, 인증 ?번호, 인증 ?코드"
    )
)
_IS = "|".join(phrases("jest, to, je, är, er, on, este, là, adalah, это, є, είναι, הוא, היא, هي, है, คือ"))
_LINK = rf"[^\n:=\d]{{0,24}}?(?:\s?[:=|]|\s(?:{_IS})\s|[是为為はが는은])"
_SIGNS = "[\\s\"'`*«„“「|]{0,8}"
# Where neither a sign nor a verb stands between.
_NEAR = r"\s(?:[—–\-]\s)?"
# Ideographs and syllables end a value: no blank stands there.
_SIGN = "[!#-&(-;=?-_a-{}~À-ʯͰ-ӿ]"
# Bytes; an expression that counts so far would take megabytes.
_LONGEST = 128
_SAID = rf"(?i)(?:{_WORDS}){_LINK}{_SIGNS}"
_VALUE = compile_pattern(rf"{_SAID}({_SIGN}+)")
_SAID_NEAR = rf"(?i)(?:{_WORDS}){_NEAR}[\"'`*]{{0,2}}"
_VALUE_NEAR = compile_pattern(rf"{_SAID_NEAR}({_SIGN}+)")
_SAID_CODE = rf"(?i)(?:{_CODE_WORDS})(?:{_LINK}|\s|){_SIGNS}"
_CODE = compile_pattern(rf"{_SAID_CODE}(\d{{3}}[ -]?\d{{3}}|\d{{4,8}})\b")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        for find in ((_linked, _near), (_codes,))[hit]:
            yield from find(normalized)


def _linked(normalized: NormalizedText) -> Iterator[Match]:
    for start, end, value in _values(normalized, _VALUE):
        if is_strong(value) or (any(map(str.isdigit, value)) and is_chosen(value, quoted=False)):
            yield Match(start, end, 0.8, PASSWORD.name)


def _near(normalized: NormalizedText) -> Iterator[Match]:
    for start, end, value in _values(normalized, _VALUE_NEAR):
        digits = sum(map(str.isdigit, value))
        # A small number after a word is a name's: `Windows11`.
        odd = len(value) >= 6 and (digits >= 4 or (digits > 0 and not value.isalnum()))
        if odd and not value.isdigit() and is_chosen(value, quoted=False):
            yield Match(start, end, 0.7, PASSWORD.name)


def _values(normalized: NormalizedText, expression: Expression) -> Iterator[tuple[int, int, str]]:
    for match in expression.finditer(normalized.data):
        start, end = match.span(1)
        while end > start and normalized.data[end - 1] in b".,;:)*|":
            end -= 1
        value = normalized.text(start, end)
        if end - start <= _LONGEST and not NO_VALUE.fullmatch(value):
            yield start, end, value


def _codes(normalized: NormalizedText) -> Iterator[Match]:
    for match in _CODE.finditer(normalized.data):
        if not match[1].startswith((b"19", b"20")) and len(set(match[1])) > 1:
            yield Match(*match.span(1), 0.7, PASSWORD.name)


_word = "Tr0ub4dor" + "&3"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.password_abroad",
        (PASSWORD,),
        (f"(?i)(?:{_WORDS})", f"(?i)(?:{_CODE_WORDS})"),
        _find,
        examples=(
            Example(f"hasło: {_word}", _word),
            Example(f"Hasło do Wi-Fi to {_word}.", _word),
            Example(f"Heslo je {_word}", _word),
            Example(f"Lösenordet är {_word}", _word),
            Example(f"Yeni şifreniz: {_word}", _word),
            Example(f"mật khẩu là {_word}", _word),
            Example(f"Пароль от почты: {_word}", _word),
            Example(f"κωδικός πρόσβασης: {_word}", _word),
            Example(f"הסיסמה היא {_word}", _word),
            Example(f"كلمة المرور: {_word}", _word),
            Example(f"पासवर्ड: {_word}", _word),
            Example(f"密码是{_word}。", _word),
            Example(f"パスワードは{_word}です", _word),
            Example(f"비밀번호: {_word}", _word),
            Example(f"пароль {_word}", _word),
            Example(f"| **Hasło** | `{_word}` |", _word),
            Example("Пароль: Зима" + "2024!", "Зима" + "2024!"),
            Example("Ваш код подтверждения: 483920", "483920"),
        ),
        counter_examples=(
            "hasło jest za krótkie",
            "Пароль должен содержать 8 символов",
            "密码至少需要12个字符",
            "パスワードは8文字以上です",
            "şifre: gerekli",
            "Zmień hasło: ustawienia",
            "密码:6~20位字母数字",
            "passord er ISO27001",
            "пароль Windows11",
            "κωδικός: AB1234xy",
            "код подтверждения: 2024 год",
        ),
    ),
)
