"""What opens an account or a wallet when all else is lost: recovery codes and keys, alone or in lists; the 12 to 24
words of a wallet (BIP 39), after what people call them or before; what an authenticator's codes are made from, in
base32 (RFC 4226, RFC 6238); BitLocker's keys.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from gateway.detection.normalized_text import View
from gateway.detection.recognizer import EntityType, Example, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE32, sample
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets import _vocabulary as words
from gateway.detection.recognizers.secrets._locator import Rule, rule, table

_LABEL = compile_pattern(f"(?i){words.RECOVERY}")
# From the label to its first code: a few words that hold no figure.
_LINK = re.compile(rb"[^\d:=\r\n]{0,40}(?:[:=]|\s(?:is|are|ist|sind|lautet|sont|est|son|es|sono|zijn)\b:?|\n)|(?=\s)")
# What stands between two codes: signs, bullets, boxes, the number of a line, the word before the last one.
_NEXT = re.compile(
    r"(?:(?:[\s,;:|/`*\"'\[\](){}=#>&_+\-]|•|·|–|—){1,80}+|\d{1,2}(?:[.):]\s|\s?\|)|x\]"
    r"|(?:and|und|et|y|e|en|or|oder|ou|o)\s){0,8}+(\d{4} \d{4}(?! ?\d)|(?:[A-Za-z0-9]{4} ){7,15}[A-Za-z0-9]{4}"
    r"|[A-Za-z0-9]{2,12}(?:-[A-Za-z0-9]{3,12}){1,8}|[A-Za-z0-9]{4,12})(?![\w\-]|[.,]\d|\s?[%$])".encode(),
    re.IGNORECASE,
)
_MOST_CODES = 64
_NUMBERED_WORD = re.compile(rb"[A-Za-z]+\d{0,3}|\d+(?:[A-Za-z]{1,3}|x\d+)")
_DIGIT = re.compile(rb"\d")
_ROUND = re.compile(rb"\d{4}0|\d{3,}000")

_SEED = compile_pattern(
    rf"(?i)(\s(?:is|are|ist|sind)\s(?:my|our|the|meine?|unsere?)\s(?:[\w\-]{{1,20}}\s)?)?{words.SEEDS}"
)
_TO_WORDS = re.compile(
    r"[^\n:=]{0,40}?(?:[:=]|\b(?:is|are|ist|sind|est|es|è)\b|是|为|\n)[\s:\"'`*_(\[|>\-]{0,24}".encode(), re.IGNORECASE
)
_NEXT_WORD = re.compile(rb"[\s,;|*_>\"'`\-]{0,24}+(?:\d{1,2}[.):]?[\s|]{0,4})?([A-Za-z]{3,8})(?!\w)")
_TOKEN = re.compile(rb"\S+")
_WORD = re.compile(rb"[\"'`(*]{0,3}[A-Za-z]{3,8}[,\"'`)*]{0,3}")
_LENGTHS = (24, 21, 18, 15, 12)
_REACH = _LENGTHS[0] * 10

_AUTHENTICATOR = (
    r"(?i:\b(?:2fa|mfa|[th]?otp|two[ \-]factor|authenticator|google auth)[ _\-]?(?:app )?"
    r"(?:secret|seed|(?:set-?up )?key))"
)


def _codes(view: View) -> Iterator[Match]:
    for label in _LABEL.finditer(view.data):
        link = _LINK.match(view.data, label.end())
        if link is None:
            continue
        at = link.end()
        spans: list[tuple[int, int]] = []
        shape: list[int] = []
        known = False
        while len(spans) < _MOST_CODES and (code := _NEXT.match(view.data, at)) is not None:
            groups = re.split(rb"[\- ]", code[1])
            shape = shape or list(map(len, groups))
            sure = _is_code(code[1], groups, linked=bool(link[0]))
            # Of a list, those that are shaped like the first one; with hyphens, be it by letters alone.
            alike = shape == list(map(len, groups)) and (len(groups) > 1 or _DIGIT.search(code[1]))
            if not (sure or alike):
                break
            known = known or sure
            spans.append(code.span(1))
            at = code.end()
        if known or (len(spans) > 1 and len(shape) > 1):
            for start, end in spans:
                yield Match(start, end, 0.75, values.SECRET.name)


def _is_code(code: bytes, groups: Sequence[bytes], *, linked: bool) -> bool:
    """Figures among letters, or enough of them; no number of things, no word with a number."""
    if code.isdigit():
        return len(code) >= (5 if linked else 6) and _ROUND.fullmatch(code) is None
    digits = len(_DIGIT.findall(code))
    return digits > 0 and (len(groups) > 1 or digits >= 2) and not all(map(_NUMBERED_WORD.fullmatch, groups))


def _seeds(view: View) -> Iterator[Match]:
    data = view.data
    for label in _SEED.finditer(data):
        for spans in (_after(data, label.end()), _before(data, label.start()) if label[1] else []):
            if spans:
                yield Match(spans[0][0], spans[-1][1], 0.9, values.SECRET.name)


def _after(data: bytes, at: int) -> list[tuple[int, int]]:
    """The spans of as many words as a phrase may have, the first from its number on: rather one too many."""
    link = _TO_WORDS.match(data, at)
    spans: list[tuple[int, int]] = []
    while link is not None and len(spans) < _LENGTHS[0]:
        first = spans[-1][1] if spans else link.end()
        word = _NEXT_WORD.match(data, first)
        if word is None or word[1].lower().decode() in words.OF_NO_SEED:
            break
        spans.append((first, word.end()))
    return spans[: _length(spans)]


def _before(data: bytes, end: int) -> list[tuple[int, int]]:
    tokens = list(_TOKEN.finditer(data, max(0, end - _REACH), end))
    spans = [token.span() for token in takewhile(lambda token: _WORD.fullmatch(token[0]), reversed(tokens))]
    return spans[: _length(spans)][::-1]


def _length(words: Sequence[object]) -> int:
    return next((length for length in _LENGTHS if length <= len(words)), 0)


def _base32(value: str, _: bool) -> EntityType | None:
    """No word in capitals: some figure among the letters, or a length that words do not have."""
    random = any(map(str.isdigit, value)) or len(value) >= 24
    return values.SECRET if random and not values.is_dummy(value) else None


def _elevens(value: str, _: bool) -> EntityType | None:
    """Each group is eleven times a number of 16 bits: BitLocker's way to know a slip of the pen."""
    groups = map(int, value.split("-"))
    return values.SECRET if all(group % 11 == 0 and group < 11 << 16 for group in groups) else None


_phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow"
_listed = '", "'.join(_phrase.split())
_secret = sample(32, BASE32)
_grouped = " ".join(_secret[at : at + 4] for at in range(0, 32, 4))
_elevenfold = "-".join(f"{11 * number:06}" for number in range(12_345, 60_000, 6_001))

_RULES = (
    Rule(f"(?i){words.RECOVERY}", _codes),
    Rule(f"(?i){words.SEEDS}", _seeds),
    rule(
        rf"{_AUTHENTICATOR}(?i:[^\S\n]+(?:is|ist|est|es)\b)?[^\w\n]{{1,24}}",
        r"((?:[A-Z2-7]{4}[ \-]){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}|[A-Z2-7]{16,64})\b",
        _base32,
        gate=_AUTHENTICATOR,
        score=0.85,
    ),
    rule("", r"\b(\d{6}(?:-\d{6}){7})\b", _elevens, gate=r"\b\d{6}(?:-\d{6}){7}\b", score=1.0),
)

RECOGNIZERS = (
    table(
        "recovery",
        _RULES,
        types=(values.SECRET,),
        examples=(
            Example("Your backup codes:\n8f3k-29dj\n7d2m-k3l9\nq8w2-9xk4", "7d2m-k3l9"),
            Example("recovery codes: 48291 03948 77120", "03948", score=0.7),
            Example("GitHub recovery codes\n- a1b2c-3d4e5\n- f6g7h-8i9j0", "f6g7h-8i9j0"),
            Example("Backup-Codes:\n1. 1234-5678\n2. 8765-4321", "8765-4321"),
            Example("Backup codes\n1. 1234 5678  6. 2345 6789", "2345 6789"),
            Example('{"backup_codes": ["a1b2c3d4", "e5f6g7h8"]}', "e5f6g7h8"),
            Example("| # | Recovery code |\n|---|---|\n| 1 | a1b2c-3d4e5 |", "a1b2c-3d4e5"),
            Example("Recovery codes\n[ ] ABCDE-FGHIJ\n[x] KLMNO-PQRST", "KLMNO-PQRST"),
            Example("backup codes: 8f3k-29dj, 7d2m-k3l9 and q8w2-9xk4", "q8w2-9xk4"),
            Example("codes de secours : 4829-1173, 9921-0047", "9921-0047"),
            Example("TAN 839201", "839201"),
            Example("activation code A1B2-C3D4-E5F6", "A1B2-C3D4-E5F6"),
            Example(f"My recovery phrase is: {_phrase}", _phrase),
            Example(f'mnemonic = "{_phrase}"', _phrase),
            Example(f"SEED_PHRASE={_phrase}", _phrase),
            Example(f'{{"seed_phrase": ["{_listed}"]}}', _listed),
            Example(f"Seed phrase: {_phrase}, and the PIN is in the safe", _phrase),
            Example(f"ok, {_phrase} is my seed phrase", _phrase),
            Example(f"сид-фраза: {_phrase.title()}", _phrase.title()),
            Example(f"otpauth://totp/ACME:jane?secret={_secret}&issuer=ACME", _secret),
            Example(f"the 2FA secret is {_grouped}", _grouped),
            Example(f"Authenticator setup key: {_grouped.lower()}", _grouped.lower()),
            Example(f"TOTP_SECRET={_secret}", _secret),
            Example(f"Recovery key: {_elevenfold}", _elevenfold, score=1.0),
        ),
        counter_examples=(
            "Keep your backup codes in a safe place.",
            "backup codes: 10 are left",
            "The reset code expires in 10 minutes",
            "recovery keys were introduced in 2019",
            "recovery keys: well-known advice",
            "the tan lines of 2023",
            "my tan 15000",
            "Reset code: HTTP429",
            "emergency codes: E401-E404",
            "a seed phrase is: twelve words that your wallet shows you when you set it up for the first time today",
            "A secret phrase: people often choose lyrics quotes poems jokes names pets cities colors numbers",
            "This is my seed phrase.",
            "otpauth://totp/LABEL?secret=SECRET",
            "the 2FA secret is kept with care by some team",
            "the MFA key is THIS LONG WORD LIST",
            "-".join(["123457"] * 8),
        ),
    ),
)
