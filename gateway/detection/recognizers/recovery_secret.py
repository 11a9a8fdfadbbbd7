"""What opens an account when all else is lost: lists of recovery codes, and the words of a wallet (BIP 39)."""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers.assigned_secret import SECRET
from gateway.detection.tokens import word_set
from gateway.detection.view import View

_CODES = (
    r"(?i)(?:\b(?:back-?up|recovery|rescue|scratch|single-use|one-time|emergency|2fa|mfa|activation|reset"
    r"|wiederherstellungs|notfall|einmal|freischalt|aktivierungs|herstel|activatie)[ \-]?(?:codes?|keys?)\b"
    r"|\b(?:i?tans?|mtan|pushtan)\b"
    r"|\bcodes? de (?:secours|récupération|sauvegarde|activation)\b"
    r"|\bcódigos? de (?:respaldo|recuperación|recuperação|backup|activación|ativação)\b"
    r"|\bcodic[ei] di (?:backup|recupero|emergenza|attivazione)\b)"
)
# From the label to its first code: a few words that hold no figure.
_LINK = re.compile(rb"[^\d:=\r\n]{0,40}(?:[:=]|\s(?:is|are|ist|sind|lautet|sont|est|son|es|sono|zijn)\b:?|\n)|(?=\s)")
_NEXT = re.compile(
    rb"(?:[\s,;|/`*\"'\[\]]{1,12}|(?:[\-*]|\d{1,2}[.)])\s){0,4}"
    rb"([A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,5})(?![\w\-]|[.,]\d|\s?[%$])"
)
_LABEL = compile_pattern(_CODES)
_MOST_CODES = 64

_PHRASES = (
    r"(?i)\b(?:(?:seed|recovery|mnemonic|wallet|secret|back-?up|wiederherstellungs|herstel)[ \-]?"
    r"(?:phrase|words?|wörter|zin)|mnemonic|phrase (?:de récupération|secrète)"
    r"|frase (?:semilla|secreta|di recupero|de recuper\S{2,5}))\b"
)
_PHRASE_LINK = re.compile(rb"[^\n:=]{0,40}?(?:[:=]|\bis\b|\bist\b|\best\b|\bes\b|\n)[\s:\"'`*(\[]{0,6}")
_WORDS = re.compile(rb"(?:(?:\d{1,2}[.):]?\s{0,2})?[a-z]{3,8}(?:[\s,]{1,3}|$|(?=[\"'`.)\]]))){12,24}")
_WORD = re.compile(rb"[a-z]{3,8}")
_PHRASE_LABEL = compile_pattern(_PHRASES)
_LENGTHS = frozenset((12, 15, 18, 21, 24))
# Of the words of any sentence some, and of those of BIP 39 none.
_OF_SENTENCES = word_set(
    "the and for are was were has have had not but with from your our his her its will which into been their them who"
    " how why could should would may might must does did these those than then some many much such"
)


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        yield from (_codes(view), _phrases(view))[hit]


def _codes(view: View) -> Iterator[Match]:
    for label in _LABEL.finditer(view.data):
        link = _LINK.match(view.data, label.end())
        if link is None:
            continue
        at = link.end()
        for _ in range(_MOST_CODES):
            code = _NEXT.match(view.data, at)
            if code is None or not _is_code(code[1]):
                break
            yield Match(*code.span(1), 0.75, SECRET.name)
            at = code.end()


def _is_code(code: bytes) -> bool:
    """Figures among letters, or enough of them; no year, no number of things."""
    digits = sum(map(bytes.isdigit, map(bytes, zip(code))))
    if code.isdigit():
        return len(code) >= 5
    return digits > 0 and (b"-" in code or digits >= 2)


def _phrases(view: View) -> Iterator[Match]:
    for label in _PHRASE_LABEL.finditer(view.data):
        link = _PHRASE_LINK.match(view.data, label.end())
        found = _WORDS.match(view.data, link.end()) if link is not None else None
        if found is None:
            continue
        words = [word.decode() for word in _WORD.findall(found[0])]
        if len(words) in _LENGTHS and _OF_SENTENCES.isdisjoint(words):
            yield Match(found.start(), found.start() + len(found[0].rstrip(b" \t\r\n,")), 0.9, SECRET.name)


_seed = "legal winner thank year wave sausage worth useful legal winner thank yellow"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.recovery",
        (SECRET,),
        (_CODES, _PHRASES),
        _find,
        examples=(
            Example("Your backup codes:\n8f3k-29dj\n7d2m-k3l9\nq8w2-9xk4", "7d2m-k3l9"),
            Example("recovery codes: 48291 03948 77120", "03948", score=0.7),
            Example("GitHub recovery codes\n- a1b2c-3d4e5\n- f6g7h-8i9j0", "f6g7h-8i9j0"),
            Example("Backup-Codes:\n1. 1234-5678\n2. 8765-4321", "8765-4321"),
            Example("codes de secours : 4829-1173, 9921-0047", "9921-0047"),
            Example("TAN 839201", "839201"),
            Example("activation code A1B2-C3D4-E5F6", "A1B2-C3D4-E5F6"),
            Example(f"My recovery phrase is: {_seed}", _seed),
            Example(f'mnemonic = "{_seed}"', _seed),
        ),
        counter_examples=(
            "Keep your backup codes in a safe place.",
            "backup codes: 10 are left",
            "The reset code expires in 10 minutes",
            "a seed phrase is: twelve words that your wallet shows you when you set it up for the first time today",
            "recovery keys were introduced in 2019",
            "the tan lines of 2023",
        ),
    ),
)
