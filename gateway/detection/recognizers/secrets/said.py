"""Passwords, PINs, codes and tokens as people tell them to each other: in English, German, French, Spanish, Italian,
Portuguese and Dutch in any words, elsewhere after the word for it.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from gateway.detection.normalized_text import View
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import Example, Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets import _vocabulary as words
from gateway.detection.recognizers.secrets._locator import Rule, judged, rule, span_of, table, trimmed
from gateway.detection.recognizers.secrets._names import is_place

_WORD = compile_pattern(rf"(?i)(?:\b|_)(?:{words.PASSWORDS})\b")
_SECRET_WORD = compile_pattern(rf"(?i)(?:^|[^\w\-])(?:{words.SECRETS})\b")
# What links the word to the value, and the value: quoted or bare.
_LINKED = compile_pattern(
    rf"(?i)((?:\s(?:{words.IS})|'s):?\s{{1,3}}|:\s{{1,3}}|\s?→\s?|\s{{1,2}})"
    r"(?:[\"'`*]{1,3}([^\"'`*\r\n]{4,})[\"'`*]|([^\s\"'`*<>]{4,}))"
)
# `password for the zip file: …`
_OPENS = compile_pattern(
    rf"(?i)^(?:\s(?:{words.HAPPENED}))?(?:\s(?:{words.FOR})\s(?:[^:;,.!?()\n]|\.\w)+|\s?\([^()\n]+\)|\s(?:{words.NEW})|\s*)$"
)
# Of these, something is said that is no password.
_ABOUT_IT = compile_pattern(
    r"(?i)\s(?:fields?|hash(?:es|ing)|polic(?:y|ies)|managers?|length|inputs?|forms?|storage|strength|generators?|columns?"
    r"|encryption|validat(?:ion|ors?)|box(?:es)?|prompts?|authentication)\b"
)
_SENTENCE_END = compile_pattern(r"[.!?](?:\s|$)|[^:\s]\s*\n")
_SOME_SIGN = compile_pattern(r"[\d!@#$%^&*+~?]")
_IN_CODE = compile_pattern(r"[={}();<>\[\]|\\]")
_REACH = 110
"""Bytes after the word in which its value stands."""
_LEAST = 5
"""Bytes of the shortest value and what links it to the word."""
# Somebody's password that is a plain word, with nothing after it that would make it the beginning of something else.
_PLAIN_WORD = compile_pattern(
    rf"(?i)\b(?:{words.OWN})\s(?:\w{{2,20}}[\s\-]){{0,2}}?(?:{words.PASSWORDS})\s(?:is|ist|lautet|est|es|è|é)(?:\snow)?:?\s"
    r"([a-z]{5,32})(?:[.,;!](?:\s|$)|\s?$|\s?\n|\s(?:and|und|et|y|e|en)\s)"
)
_ADJECTIVE = re.compile(
    r"(?:[^aeiou]ed|ing|[ai]ble|ful|less|ous|ive|[ae]nt|ly|ect|al|bar|lich|ig|ad[oa]|id[oa]|ée?|[ai]t[oa]|tte?|lt|rrt)$"
    r"|^(?:ab|aus|be|ent|er|ge|ver|zer)\w+(?:en|t)$"
)
_POINTED = re.compile(r"\w+\.\w*[A-Za-z]\d\d+")
_REVERSED = rf"\s(?:is|ist|est|es|è|é|as)\s(?:{words.OWN}|{words.THE})\s(?:[\w\-]+\s)?(?:{words.PASSWORDS})\b"
_AS = r"\s(?:as|als|como|come|comme)\s(?:(?:new|temporary|neues|nouveau|nueva|nuova|nova|nieuw)\s)?"
# `changé le mot de passe en …`, `Passwort auf … gesetzt`
_TO = rf"(?:{words.PASSWORDS})\s(?:(?:[^\n.:!?]{{0,48}}\s)??(?:auf|in|en|par|para|por|naar|from|von)|a)\s[\"'`]?"
_CHANGED_TO = compile_pattern(rf"(?i){_TO}([^\s\"'`<>()]+)")
_CHANGE = compile_pattern(rf"(?i)\b(?:{words.CHANGED})")
_INNER = re.compile(r"[A-Za-z]\d+[\W_]?[A-Za-z]|\w[!@#$%^&*+~?]\w")
_BARE = r"([^\s\"'`<>()]{5,})"
_LINK_ABROAD = rf"[^\n:=\d]{{0,24}}?(?:\s?[:=|]|\s(?:{words.IS_ABROAD})\s|[是为為はが는은])"
_SIGNS = "[\\s\"'`*«„“「|]{0,8}"
# Ideographs and syllables end a value: no blank stands there.
_VALUE_ABROAD = "([!#-&(-;=?-_a-{}~À-ʯͰ-ӿ]+)"


def _passwords(view: View) -> Iterator[Match]:
    for start, end, quoted, linked in _values(view.data, _WORD):
        value = view.text(start, end)
        sure = quoted and ((linked and values.is_chosen(value, quoted=True)) or values.is_phrase(value))
        if (
            sure
            or values.strong(value, quoted)
            or (_is_odd(value, linked=linked) and not words.NO_VALUE.fullmatch(value))
        ):
            yield Match(start, end, 0.8, values.PASSWORD.name)
    for match in _PLAIN_WORD.finditer(view.data):
        value = view.text(*match.span(1)).lower()
        if value not in words.NO_PASSWORD and not _ADJECTIVE.search(value) and not values.is_stand_in(value):
            yield Match(*match.span(1), 0.6, values.PASSWORD.name)


def _secrets(view: View) -> Iterator[Match]:
    for start, end, _, _ in _values(view.data, _SECRET_WORD, is_place):
        yield from judged(view, start, end, values.made, 0.8)


def _values(
    data: bytes, word: Expression, excluded: Callable[[bytes, int], bool] | None = None
) -> Iterator[tuple[int, int, bool, bool]]:
    """What could be the value of each `word` that is not excluded where it begins, up to the end of its sentence: span,
    quoted, linked by `is` or `:`.
    """
    words = [found.span() for found in word.finditer(data)]
    for (begins, first), (following, _) in pairwise([*words, (len(data), 0)]):
        if following - first < _LEAST or (excluded is not None and excluded(data, begins + 1)):
            continue
        last = min(following, first + _REACH)
        stop = _SENTENCE_END.search(data, first - 1, last)
        if stop is not None:
            last = min(last, stop.end())
        at = first
        while (linked := _LINKED.search(data, at, last)) is not None:
            quoted = linked.start(2) >= 0
            start, end = span_of(linked, 2)
            if not quoted and data[start] in b"([{" and data[end - 1] in b")]}.,":
                start += 1
            if _IN_CODE.search(data, first, linked.start()) or (data[end - 1 : end] == b"}" and data[start] in b"${"):
                break
            if end == last == following < len(data):
                # The next word begins inside of it: a name, not a value.
                break
            link = linked[1].strip()
            if not quoted and not _SOME_SIGN.search(data, start, end):
                # The value may be a link itself, with the blank before it: `ist jetzt …`.
                at = max(linked.start() + 1, linked.end(1) - 1)
                continue
            mere = link in {b"", b":"}
            # Between the word and a mere colon or space nothing else stands.
            if not (not mere and _ABOUT_IT.match(data, first)) and (
                not mere
                or linked.start() - first <= len(link)
                or (link and _OPENS.search(data[first : linked.start()]))
            ):
                yield start, end if quoted else trimmed(data, start, end), quoted, bool(link)
            at = linked.end(1) if link else linked.start() + 1


def _is_odd(value: str, *, linked: bool) -> bool:
    """Digits or signs where prose has words: no part of a sentence, a time or a number of things."""
    # What is told to be one may have a point in it, as names in programs have.
    pointed = linked and _POINTED.fullmatch(value) is not None
    if not values.is_chosen(value, quoted=pointed):
        return False
    if value.isdigit():
        return linked and len(value) >= 5
    letters = sum(char.isalpha() for char in value)
    return 0 < letters < sum(char not in "-'/." for char in value.rstrip("!?")) and (linked or len(value) >= 6)


def _changed(view: View) -> Iterator[Match]:
    for match in _CHANGED_TO.finditer(view.data):
        start, end = match.span(1)
        if not _CHANGE.search(view.data, max(0, match.start() - _REACH), min(len(view.data), end + _REACH)):
            continue
        for one in judged(view, start, end, values.strong, 0.75):
            if _INNER.search(view.text(one.start, one.end)):
                yield one


_word = "Tr0ub4dor" + "&3"
_random = "q7Zr2mXw9LpV4tKd"

_RULES = (
    Rule(
        rf"(?i)(?:{words.PASSWORDS})\b(?:(?:[^.!?\n\"'`]|[.!?]\S)*(?:\s(?:{words.IS})|'s|:|→)\s|\s+\S*\d|\s[\"'`])",
        _passwords,
    ),
    Rule(rf"(?i)\b(?:{words.SECRETS})\b(?:[^.!?\n\"'`]*(?:\s(?:{words.IS})|:)\s|\s+\S*\d)", _secrets),
    rule(
        rf"(?i)(?:\b(?:{words.CODES})\b|{words.CODES_ABROAD})"
        rf"(?:[^.:=!?\n\"'`\d]{{0,32}}?(?:\s(?:{words.IS}|{words.IS_ABROAD}):?\s|[:=#|是为為はが는은]|nr\.?))?{_SIGNS}",
        r"(\d{3}[ -]?\d{3}|[A-Z0-9]{4,6}-[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){0,4}|\d{4,8})\b",
        values.code,
        gate=rf"(?i)(?:\b(?:{words.CODES})\b|{words.CODES_ABROAD})[^.!?\n\d]*\d\d",
        score=0.7,
    ),
    rule(
        rf"(?i)\b(?:{words.LOGINS})(?: (?:{words.FOR}) [^:;,.!?()\d\n]{{1,40}})?(?: (?:{words.WITH}))?\s?:?\s{{1,3}}"
        r"[\"'`]?[\w.@+\-]{2,64}\s?[/:|]\s?",
        r"([^\s\"'`,;<>/][^\s\"'`,;<>]{4,})",
        values.strong,
        gate=rf"(?i)\b(?:{words.LOGINS})\b[^\n/:|]*[/:|]",
        score=0.75,
    ),
    rule("", rf"(?i)([^\s\"'`<>()]*\d[^\s\"'`<>()]*){_REVERSED}", values.mixed, gate=f"(?i){_REVERSED}"),
    # `try … as password`, `probier … als Passwort`
    rule(
        "",
        rf"(?i){_BARE}[\"'`]?{_AS}(?:{words.PASSWORDS})"
        r"(?:[.,;:!?)\n]|$|\s(?:and|und|et|y|e|en|for|für|pour|para|per|voor)\s)",
        values.strong,
        gate=rf"(?i){_AS}(?:pass|pw|mdp|mot|kennw|contras|clave|senha|palavra|wachtw)",
        score=0.75,
    ),
    Rule(
        rf"(?i)(?:{words.PASSWORDS})\s(?:[^\n.:!?]*\s)?(?:auf|in|en|par|para|por|naar|from|von|a)\s[\"'`]?\S*\d",
        _changed,
    ),
    # `u: jane p: …`, `root / …`
    rule(
        r"\b[uU](?:ser)?\s?[:=]\s?[^\s,;]+[,;]?\s+[pP]\s?[:=]\s?"
        r"|\b(?i:admin|root|administrator|sysadmin|superuser|test|demo|guest) / ",
        r"([^\s\"'`<>/]{6,})",
        values.told,
        gate=r"\b[uU](?:ser)?\s?[:=]\s?\S+\s+[pP]\s?[:=]\s?\S|(?i:admin|root|user|test|demo|guest|istrator) / \S*\d",
        score=0.75,
    ),
    # Other languages
    rule(
        rf"(?i)(?:{words.PASSWORDS_ABROAD}){_LINK_ABROAD}{_SIGNS}",
        _VALUE_ABROAD,
        values.mixed,
        gate=rf"(?i)(?:{words.PASSWORDS_ABROAD})",
    ),
    rule(
        rf"(?i)(?:{words.PASSWORDS_ABROAD})\s(?:[—–\-]\s)?[\"'`*]{{0,2}}",
        _VALUE_ABROAD,
        values.told,
        gate=rf"(?i)(?:{words.PASSWORDS_ABROAD})",
        score=0.7,
    ),
)

RECOGNIZERS = (
    table(
        "said",
        _RULES,
        examples=(
            Example(f"my password is {_word}.", _word),
            Example("Password for the zip file: " + "zipzap2024", "zipzap2024"),
            Example(f"log in as root with {_word} as the password", _word),
            Example(f"creds for the test server: jane:{_word}", _word),
            Example(f"The password for the admin account is now {_word}, ok?", _word),
            Example(f"Das Passwort lautet {_word}", _word),
            Example(f"Mot de passe : {_word}", _word),
            Example(f"la contraseña es {_word}", _word),
            Example(f"La password è {_word}", _word),
            Example(f"a senha é {_word}", _word),
            Example(f"Het wachtwoord is {_word}", _word),
            Example(f"the api key is {_random}", _random, "SECRET"),
            Example("my pin is 4829", "4829"),
            Example("Your verification code is 482913.", "482913"),
            Example(f"Log in with admin / {_word}", _word),
            Example("my wifi password is " + "swordfish and it works", "swordfish"),
            Example("hunter" + "2 is the password for jane", "hunter" + "2"),
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
            "The password is required.",
            "Your password was changed on 2024-01-02",
            "passwords must be at least 12 characters",
            "the token is expired",
            "My password is weak.",
            "Is a 12-character password enough?",
            "Password requirements: Min8Chars",
            "Your password is incorrect, and your account is locked.",
            "Patience is the password here.",
            "Das Passwort ist falsch",
            "the PIN is wrong",
            "pin 12 of the chip",
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
