"""Passwords, PINs and codes as people tell them to each other, in English, German, French, Spanish, Italian,
Portuguese and Dutch.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._said_words import (
    CODES,
    FOR,
    HAPPENED,
    IS,
    LOGINS,
    NEW,
    NO_PASSWORD,
    NO_VALUE,
    OWN,
    PASSWORDS,
    SECRETS,
    THE,
    WITH,
)
from gateway.detection.recognizers._secret_names import is_place
from gateway.detection.recognizers._secret_values import is_chosen, is_made, is_phrase, is_stand_in, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD, SECRET

_WORD = compile_pattern(rf"(?i)(?:\b|_)(?:{PASSWORDS})\b")
_SECRET_WORD = compile_pattern(rf"(?i)(?:^|[^\w\-])(?:{SECRETS})\b")
# What links the word to the value, and the value: quoted or bare.
_LINKED = compile_pattern(
    rf"(?i)((?:\s(?:{IS})|'s):?\s{{1,3}}|:\s{{1,3}}|\s?→\s?|\s{{1,2}})"
    r"(?:[\"'`*]{1,3}([^\"'`*\r\n]{4,})[\"'`*]|([^\s\"'`*<>]{4,}))"
)
# `password for the zip file: …`
_OPENS = compile_pattern(
    rf"(?i)^(?:\s(?:{HAPPENED}))?(?:\s(?:{FOR})\s(?:[^:;,.!?()\n]|\.\w)+|\s?\([^()\n]+\)|\s(?:{NEW})|\s*)$"
)
# Of these, something is said that is no password.
_ABOUT_IT = compile_pattern(
    r"(?i)\s(?:fields?|hash(?:es|ing)|polic(?:y|ies)|managers?|length|inputs?|forms?|storage|strength|generators?|columns?"
    r"|encryption|validat(?:ion|ors?)|box(?:es)?|prompts?|authentication)\b"
)
_SENTENCE_END = compile_pattern(r"[.!?](?:\s|$)|[^:\s]\s*\n")
_SOME_SIGN = compile_pattern(r"[\d!@#$%^&*+~?]")
_CODE = compile_pattern(r"[={}();<>\[\]|\\]")
_REACH = 110
"""Bytes after the word in which its value stands."""
_LEAST = 5
"""Bytes of the shortest value and what links it to the word."""

_SAID_CODE = compile_pattern(
    rf"(?i)\b(?:{CODES})\b(?:[^.:=!?\n\"'`\d]{{0,32}}?(?:\s(?:{IS})\b:?|[:=#]|nr\.?))?\s{{0,3}}[\"'`*]{{0,2}}"
    r"(\d{3}[ -]?\d{3}|[A-Z0-9]{4,6}-[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){0,4}|\d{4,8})\b"
)
# `what's the password?`, and the line that answers.
_ASKED = rf"(?i)(?:{PASSWORDS})\b[^\n.?]*(?:\?|\b(?:pls|plz|please|bitte|svp|por favor|per favore))[^\n\w]*\r?\n"
_ANSWERED = compile_pattern(
    rf"{_ASKED}(?:[\w .\[\]]{{1,32}}\d\d?:\d\d[^\n]{{0,8}}\n)?(?:[\[(]?\d[\d.,:/\- apm]+[\])]?[ \-]*)?"
    r"(?:[\w .]{1,24}:[ \t]+)?(?:it'?s |das ist |ist |c'est |es |è |é )?(\S{6,64})[ \t]*(?:\r?\n|$)"
)
_CREDENTIALS = compile_pattern(
    rf"(?i)\b(?:{LOGINS})(?: (?:{FOR}) [^:;,.!?()\d\n]{{1,40}})?(?: (?:{WITH}))?\s?:?"
    r"\s{1,3}[\"'`]?([\w.@+\-]{2,64})\s?[/:|]\s?([^\s\"'`,;<>]{5,})"
)
# Somebody's password that is a plain word, with nothing after it that would make it the beginning of something else.
_PLAIN_WORD = compile_pattern(
    rf"(?i)\b(?:{OWN})\s(?:\w{{2,20}}[\s\-]){{0,2}}?(?:{PASSWORDS})\s(?:is|ist|lautet|est|es|è|é)(?:\snow)?:?\s"
    r"([a-z]{5,32})(?:[.,;!](?:\s|$)|\s?$|\s?\n|\s(?:and|und|et|y|e|en)\s)"
)
_ADJECTIVE = re.compile(
    r"(?:[^aeiou]ed|ing|[ai]ble|ful|less|ous|ive|[ae]nt|ly|ect|al|bar|lich|ig|ad[oa]|id[oa]|ée?|[ai]t[oa]|tte?|lt|rrt)$"
    r"|^(?:ab|aus|be|ent|er|ge|ver|zer)\w+(?:en|t)$"
)
_REVERSED = rf"\s(?:is|ist|est|es|è|é|as)\s(?:{OWN}|{THE})\s(?:[\w\-]+\s)?(?:{PASSWORDS})\b"
_SAID_BEFORE = compile_pattern(rf"(?i)([^\s\"'`<>()]{{5,}}){_REVERSED}")
# `try … as password`, `probier … als Passwort`
_AS = rf"\s(?:as|als|como|come|comme)\s(?:(?:new|temporary|neues|nouveau|nueva|nuova|nova|nieuw)\s)?(?:{PASSWORDS})"
_AS_PREFILTER = (
    r"\s(?:as|als|como|come|comme)\s(?:(?:new|temporary|neues|nouveau|nueva|nuova|nova|nieuw)\s)?"
    r"(?:pass|pw|mdp|mot|kennw|contras|clave|senha|palavra|wachtw)"
)
_USED_AS = compile_pattern(
    rf"(?i)([^\s\"'`<>()]{{5,}})[\"'`]?{_AS}(?:[.,;:!?)\n]|$|\s(?:and|und|et|y|e|en|for|für|pour|para|per|voor)\s)"
)
# `changé le mot de passe en …`, `Passwort auf … gesetzt`
_TO = rf"(?:{PASSWORDS})\s(?:(?:[^\n.:!?]{{0,48}}\s)??(?:auf|in|en|par|para|por|naar|from|von)|a)\s[\"'`]?"
_CHANGED_TO = compile_pattern(rf"(?i){_TO}([^\s\"'`<>()]+)")
_CHANGE = compile_pattern(
    r"(?i)\b(?:chang|modifi|remplac|mis |cambi|puesto|actualiz|mud|alter|troc|troq|redefin|impost|aggiorn|gewijzigd"
    r"|verander|gezet|ge[äa]ndert|gesetzt|umgestellt|zur[üu]ckgesetzt)"
)
_POINTED = re.compile(r"\w+\.\w*[A-Za-z]\d\d+")
_ODD_SIGN = re.compile(r"[!@#$%^&*+~]")
_NUMBERED_PHRASE = re.compile(r"[a-z]+(?:-[a-z]+){2,}-?\d+")
_INNER_SIGN = re.compile(r"\w[!@#$%^&*+~?]\w")
_INNER = re.compile(r"[A-Za-z]\d+[\W_]?[A-Za-z]|\w[!@#$%^&*+~?]\w")
# `u: jane p: …`, `root / …`
_SHORTHAND = compile_pattern(
    r"(?:\b(?:[uU]|[uU]ser)\s?[:=]\s?[^\s,;]+[,;]?\s+[pP]\s?[:=]\s?"
    r"|\b(?i:admin|root|administrator|sysadmin|superuser|test|demo|guest) / )([^\s\"'`<>/]{6,})"
)


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        yield from _FINDERS[hit](normalized)


def _passwords(normalized: NormalizedText) -> Iterator[Match]:
    for start, end, quoted, linked in _values(normalized.data, _WORD):
        value = normalized.text(start, end)
        told = quoted and ((linked and is_chosen(value, quoted=True)) or is_phrase(value))
        if told or ((is_strong(value) or _is_odd(value, linked=linked)) and not NO_VALUE.fullmatch(value)):
            yield Match(start, end, 0.8, PASSWORD.name)
    for match in _PLAIN_WORD.finditer(normalized.data):
        start, end = match.span(1)
        value = normalized.text(start, end).lower()
        if value not in NO_PASSWORD and not _ADJECTIVE.search(value) and not is_stand_in(value):
            yield Match(start, end, 0.6, PASSWORD.name)


def _said_before(normalized: NormalizedText) -> Iterator[Match]:
    for match in _SAID_BEFORE.finditer(normalized.data):
        value = normalized.text(*match.span(1))
        if any(char.isdigit() for char in value) and is_chosen(value, quoted=True):
            yield Match(*match.span(1), 0.8, PASSWORD.name)
    for match in _USED_AS.finditer(normalized.data):
        value = normalized.text(*match.span(1))
        if any(char.isdigit() for char in value) and is_strong(value) and not NO_VALUE.fullmatch(value):
            yield Match(*match.span(1), 0.75, PASSWORD.name)


def _answered(normalized: NormalizedText) -> Iterator[Match]:
    for match in _ANSWERED.finditer(normalized.data):
        start = match.start(1)
        end = _trimmed(normalized.data, *match.span(1), quoted=False)
        value = normalized.text(start, end)
        if is_strong(value) and _is_told(value) and not NO_VALUE.fullmatch(value):
            yield Match(start, end, 0.75, PASSWORD.name)


def _is_told(value: str) -> bool:
    """Whether nobody would answer so who had no password to tell."""
    digits = sum(map(str.isdigit, value))
    return (
        _ODD_SIGN.search(value) is not None
        or (value.isalnum() and digits >= 2)
        or _NUMBERED_PHRASE.match(value) is not None
    )


def _changed(normalized: NormalizedText) -> Iterator[Match]:
    for match in _CHANGED_TO.finditer(normalized.data):
        start = match.start(1)
        end = _trimmed(normalized.data, *match.span(1), quoted=False)
        value = normalized.text(start, end)
        if not (is_strong(value) and _INNER.search(value) and _is_capital_or_odd(value)):
            continue
        if _CHANGE.search(normalized.data, max(0, match.start() - _REACH), min(len(normalized.data), end + _REACH)):
            yield Match(start, end, 0.75, PASSWORD.name)


def _is_capital_or_odd(value: str) -> bool:
    return value.lower() != value or _INNER_SIGN.search(value) is not None


def _shorthand(normalized: NormalizedText) -> Iterator[Match]:
    for match in _SHORTHAND.finditer(normalized.data):
        start = match.start(1)
        end = _trimmed(normalized.data, *match.span(1), quoted=False)
        value = normalized.text(start, end)
        if len(value) >= 6 and is_strong(value) and _is_told(value) and not NO_VALUE.fullmatch(value):
            yield Match(start, end, 0.75, PASSWORD.name)


def _secrets(normalized: NormalizedText) -> Iterator[Match]:
    for start, end, _, _ in _values(normalized.data, _SECRET_WORD, is_place):
        if is_made(normalized.text(start, end)):
            yield Match(start, end, 0.8, SECRET.name)


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
            quoted = linked.span(2) != (-1, -1)
            start, end = linked.span(2 if quoted else 3)
            if not quoted and data[start] in b"([{" and data[end - 1] in b")]}.,":
                start += 1
            if _CODE.search(data, first, linked.start()) or (data[end - 1 : end] == b"}" and data[start] in b"${"):
                break
            if end == last == following < len(data):
                # The next word begins inside of it: a name, not a value.
                break
            link = linked[1].strip()
            # Between the word and a mere colon or space nothing else stands.
            if not quoted and not _SOME_SIGN.search(data, start, end):
                # The value may be a link itself, with the blank before it: `ist jetzt …`.
                at = max(linked.start() + 1, linked.end(1) - 1)
                continue
            if link not in {b"", b":"} and _ABOUT_IT.match(data, first):
                at = linked.end(1)
                continue
            if (
                link not in {b"", b":"}
                or linked.start() - first <= (1 if link else 0)
                or (link and _OPENS.search(data[first : linked.start()]))
            ):
                yield start, _trimmed(data, start, end, quoted=quoted), quoted, bool(link)
            at = linked.end(1) if link else linked.start() + 1


def _is_odd(value: str, *, linked: bool) -> bool:
    """Digits or signs where prose has words: no part of a sentence, a time or a number of things."""
    # What is told to be one may have a point in it, as names in programs have.
    pointed = linked and _POINTED.fullmatch(value) is not None
    if not is_chosen(value, quoted=pointed):
        return False
    if value.isdigit():
        return linked and len(value) >= 5
    letters = sum(char.isalpha() for char in value)
    return 0 < letters < sum(char not in "-'/." for char in value.rstrip("!?")) and (linked or len(value) >= 6)


def _codes(normalized: NormalizedText) -> Iterator[Match]:
    for match in _SAID_CODE.finditer(normalized.data):
        start, end = match.span(1)
        value = normalized.text(start, end)
        if len(set(value)) > 1 and not value.startswith(("19", "20")) and any(char.isdigit() for char in value):
            yield Match(start, end, 0.7, PASSWORD.name)


def _credentials(normalized: NormalizedText) -> Iterator[Match]:
    for match in _CREDENTIALS.finditer(normalized.data):
        start = match.start(2)
        end = _trimmed(normalized.data, *match.span(2), quoted=False)
        value = normalized.text(start, end)
        if is_strong(value) and not value.startswith("//"):
            yield Match(start, end, 0.75, PASSWORD.name)


def _trimmed(data: bytes, start: int, end: int, *, quoted: bool) -> int:
    """Without the signs that end a sentence or a clause. `!` and `?` stay: the password may end so."""
    while not quoted and end > start and data[end - 1] in b".,;:)]}\"'`*":
        end -= 1
    return end


_FINDERS = (_passwords, _secrets, _codes, _credentials, _said_before, _changed, _shorthand, _answered)
_word = "Tr0ub4dor" + "&3"
_random = "q7Zr2mXw9LpV4tKd"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.said",
        (PASSWORD, SECRET),
        (
            rf"(?i)(?:{PASSWORDS})\b(?:(?:[^.!?\n\"'`]|[.!?]\S)*(?:\s(?:{IS})|'s|:|→)\s|\s+\S*\d|\s[\"'`])",
            rf"(?i)\b(?:{SECRETS})\b(?:[^.!?\n\"'`]*(?:\s(?:{IS})|:)\s|\s+\S*\d)",
            rf"(?i)\b(?:{CODES})\b[^.!?\n\d]*\d\d",
            rf"(?i)\b(?:{LOGINS})\b[^\n/:|]*[/:|]",
            f"(?i){_REVERSED}|{_AS_PREFILTER}",
            rf"(?i)(?:{PASSWORDS})\s(?:[^\n.:!?]*\s)?(?:auf|in|en|par|para|por|naar|from|von|a)\s[\"'`]?\S*\d",
            r"\b[uU](?:ser)?\s?[:=]\s?\S+\s+[pP]\s?[:=]\s?\S|(?i:admin|root|user|test|demo|guest|istrator) / \S*\d",
            _ASKED,
        ),
        _find,
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
        ),
    ),
)
