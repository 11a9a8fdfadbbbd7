"""Passwords after the word for it, in the languages and scripts that `said_secret` does not speak."""

from collections.abc import Iterator, Sequence

from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._secret_values import is_chosen, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD
from gateway.detection.tokens import phrases
from gateway.detection.view import View

_WORDS = "|".join(
    phrases(
        "hasł(?:o|em|a), hesl(?:o|em|a), lösenord(?:et)?, adgangskode(?:n)?, kodeord(?:et)?, passord(?:et)?,"
        " jelsz(?:ó|ava), salasana(?:ni)?, parol[ăa](?:m|sı|nız)?, şifre(?:m|si|niz|miz)?, lozinka, geslo, slaptažodis,"
        " parool, mật khẩu, kata sandi, парол[ьяею](?:м)?, парола, гасло, лозинка, κωδικός(?: πρόσβασης)?,"
        " סיסמ[הא], كلمة (?:المرور|السر), رمز عبور, पासवर्ड, পাসওয়ার্ড, รหัสผ่าน,"
        " 密码, 密碼, 口令, パスワード, 暗証番号, 비밀번호, 암호, 패스워드"
    )
)
_IS = "|".join(phrases("jest, to, je, är, er, on, este, là, adalah, это, є, είναι, הוא, היא, هي, है, คือ"))
_GLUED_IS = "[是为為はが는은]"
_SAID = rf"(?i)(?:{_WORDS})[^\n:=\d]{{0,24}}?(?:\s?[:=]|\s(?:{_IS})\s|{_GLUED_IS})\s{{0,3}}[\"'`*«„“「]{{0,3}}"
_VALUE = compile_pattern(rf"{_SAID}([!#-&(-;=?-_a-~]{{4,128}})")


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    for match in _VALUE.finditer(view.data):
        start, end = match.span(1)
        while view.data[end - 1] in b".,;:)*":
            end -= 1
        value = view.text(start, end)
        has_digit = any(map(str.isdigit, value))
        if is_strong(value) or (has_digit and is_chosen(value, quoted=False)):
            yield Match(start, end, 0.8, PASSWORD.name)


_word = "Tr0ub4dor" + "&3"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.password_abroad",
        (PASSWORD,),
        (_SAID,),
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
        ),
        counter_examples=(
            "hasło jest za krótkie",
            "Пароль должен содержать 8 символов",
            "密码至少需要12个字符",
            "パスワードは8文字以上です",
            "şifre: gerekli",
            "Zmień hasło: ustawienia",
        ),
    ),
)
