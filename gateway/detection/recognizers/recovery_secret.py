"""What opens an account when all else is lost: recovery codes and keys, alone or in lists."""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers.assigned_secret import SECRET

_CODES = (
    r"(?i)(?:(?:\b|_)(?:back-?up|recovery|rescue|scratch|single[ _\-]?use|one[ _\-]?time|emergency|2fa|mfa"
    r"|activation|reset|wiederherstellungs|notfall|einmal|freischalt|aktivierungs|herstel|activatie)"
    r"[ _\-]?(?:codes?|keys?)\b"
    r"|\b(?:i?tans?|mtan|pushtan)\b"
    r"|\bcodes? de (?:secours|récupération|sauvegarde|activation)\b"
    r"|\bcódigos? de (?:respaldo|recuperación|recuperação|backup|activación|ativação)\b"
    r"|\bcodic[ei] di (?:backup|recupero|emergenza|attivazione)\b)"
)
# From the label to its first code: a few words that hold no figure.
_LINK = re.compile(rb"[^\d:=\r\n]{0,40}(?:[:=]|\s(?:is|are|ist|sind|lautet|sont|est|son|es|sono|zijn)\b:?|\n)|(?=\s)")
# What stands between two codes: signs, bullets, boxes, the number of a line, the word before the last one.
_NEXT = re.compile(
    r"(?:(?:[\s,;:|/`*\"'\[\](){}=#>&_+\-]|•|·|–|—){1,80}+|\d{1,2}(?:[.):]\s|\s?\|)|x\]"
    r"|(?:and|und|et|y|e|en|or|oder|ou|o)\s){0,8}+"
    r"(\d{4} \d{4}(?! ?\d)|(?:[A-Za-z0-9]{4} ){7,15}[A-Za-z0-9]{4}"
    r"|[A-Za-z0-9]{2,12}(?:-[A-Za-z0-9]{3,12}){1,8}|[A-Za-z0-9]{4,12})(?![\w\-]|[.,]\d|\s?[%$])".encode(),
    re.IGNORECASE,
)
_LABEL = compile_pattern(_CODES)
_MOST_CODES = 64
_NUMBERED_WORD = re.compile(rb"[A-Za-z]+\d{0,3}|\d+(?:[A-Za-z]{1,3}|x\d+)")
_DIGIT = re.compile(rb"\d")
_ROUND = re.compile(rb"\d{4}0|\d{3,}000")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for label in _LABEL.finditer(normalized.data):
        link = _LINK.match(normalized.data, label.end())
        if link is None:
            continue
        at = link.end()
        spans: list[tuple[int, int]] = []
        shape: list[int] = []
        known = False
        while len(spans) < _MOST_CODES and (code := _NEXT.match(normalized.data, at)) is not None:
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
                yield Match(start, end, 0.75, SECRET.name)


def _is_code(code: bytes, groups: Sequence[bytes], *, linked: bool) -> bool:
    """Figures among letters, or enough of them; no number of things, no word with a number."""
    if code.isdigit():
        return len(code) >= (5 if linked else 6) and _ROUND.fullmatch(code) is None
    digits = len(_DIGIT.findall(code))
    return digits > 0 and (len(groups) > 1 or digits >= 2) and not all(map(_NUMBERED_WORD.fullmatch, groups))


RECOGNIZERS = (
    FunctionRecognizer(
        "secret.recovery",
        (SECRET,),
        (_CODES,),
        _find,
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
        ),
    ),
)
