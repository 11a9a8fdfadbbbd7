"""Restores punctuation that is spelled out or bracketed: `john underscore roe at example dot com`,
`john [at] example [dot] com`, `41[.]173[.]96[.]26`, and addresses with spaces around their punctuation.
"""

import re
from collections.abc import Iterator

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.entropy import word_set
from gateway.detection.re2_expression import Re2Match, neighbourhoods
from gateway.detection.recognizer import compile_pattern

TOP_DOMAINS = tuple(
    """
    com org net edu gov mil int info biz name pro app dev cloud online site shop store tech xyz ai io co me tv
    eu test example de uk fr es it nl be ch at dk se no fi pl cz sk hu ro bg gr pt ie lt lv ee si hr rs ua ru
    tr il ca us mx br ar cl pe au nz jp cn in kr tw hk sg my th id ph vn za ng ke eg ae sa
    """.split()
)
"""Top-level domains (IANA, Root Zone Database) common enough to mark the end of an address."""

_OPEN, _CLOSE = r"\s?[\[({<]\s?", r"\s?[\])}>]\s?"
_AT_WORD = "at(?: sign)?|ät|arroba|chiocciola|arobase|apenstaartje|snabel-?a|małpa|zavináč"
_DOT_WORD = "dot|punkt|point|punto|ponto|punt|prick|kropka|tečka"
_JOINING_WORDS = {
    b"_": r"under ?score|unterstrich|gui[oó]n bajo|tiret (?:du )?bas|trattino basso|sublinhado|podkreślnik",
    b"-": r"dash|hyphen|minus|bindestrich|gui[oó]n|tiret|trattino|h[íi]fen|tra[cç]o|(?:laag )?streepje|myślnik",
    b".": _DOT_WORD,
    b"+": "plus",
}
_JOINING = rf"\s+(?:{'|'.join(_JOINING_WORDS.values())})\s+"
_AT = rf"(?:{_OPEN}(?:{_AT_WORD}|@){_CLOSE}|\s+(?:{_AT_WORD})\s+|\s?@\s?|[_\-]at[_\-])"
_DOT = rf"(?:{_OPEN}(?:{_DOT_WORD}|\.){_CLOSE}|\s+(?:{_DOT_WORD})\s+|\s\.\s|\.|[_\-]dot[_\-])"
_LABEL = rf"[{LETTERS}\d][{LETTERS}\d\-]*(?:\s+(?:{_JOINING_WORDS[b'-']})\s+[{LETTERS}\d\-]+)?"
_LOCAL = rf"[{LETTERS}\d][{LETTERS}\d._%+\-]*?(?:{_JOINING}[{LETTERS}\d._\-]+){{0,4}}"
_ADDRESS = compile_pattern(
    rf"(?i)({_LOCAL})({_AT})({_LABEL}(?:{_DOT}{_LABEL}){{0,4}}{_DOT}(?:{'|'.join(TOP_DOMAINS)}|[a-z]{{2}}))\b"
)
_DOTS = compile_pattern(rf"(?i){_DOT}")
_JOINS = tuple((compile_pattern(rf"(?i)\s+(?:{words})\s+"), sign) for sign, words in _JOINING_WORDS.items())
_BRACKETS = (
    (re.compile(rb"\s?[\[({<]\s?(?:\.|dot)\s?[\])}>]\s?", re.IGNORECASE), b"."),
    (re.compile(rb"[\[({]:[\])}](?=//)"), b":"),
    (re.compile(rb"[\[({]://[\])}]"), b"://"),
    (re.compile(rb"\bhxxp(?=s?[\[({]?:)", re.IGNORECASE), b"http"),
)
_PREFILTER = (
    rf"(?i)\s(?:{_AT_WORD})\s+(?:[{LETTERS}\d\-]+\s+){{1,3}}(?:{_DOT_WORD})\s|[\[({{<]\s?(?:\.|dot|at|@)\s?[\])}}>]"
    rf"|[\[({{]:(?:[\])}}]//|//[\])}}])|[{LETTERS}\d]\s@\s?[{LETTERS}\d]|[{LETTERS}\d]@\s[{LETTERS}\d]"
    rf"|\bhxxps?:|[_\-]at[_\-][a-z0-9]+[_\-]dot[_\-]|@[{LETTERS}\d\-.]+(?:\s\.\s|\s+dot\s+)"
)


_COMPILED_PREFILTER = compile_pattern(_PREFILTER)
_BEFORE, _AFTER = 96, 160


def ends_as_host(address: bytes) -> bool:
    """Returns whether an address ends with one of TOP_DOMAINS."""
    return address.rpartition(b".")[2].decode("utf-8", "replace").lower() in TOP_DOMAINS


def _spelled_out_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for first, last in neighbourhoods(data, _COMPILED_PREFILTER, _BEFORE, _AFTER):
        yield from _addresses(data, first, last)
        for sign, replacement in _BRACKETS:
            for found in sign.finditer(data, first, last):
                yield Edit(found.start(), found.end(), replacement, 0.6)


# `look at the dot com bubble`: when all punctuation is spelled out, the neighbouring words decide.
_NOT_LOCAL_PARTS = word_set(
    "look looks looking looked talk talks meet work works working page site us is are was be found me him"
)
_NOT_LOCAL_PARTS |= word_set("hosted available visit see reach it them live here there contact email mail write")
_SIGNS = re.compile(rb"[\s.\[\](){}<>_-]+")
_WORD_DOMAINS = word_set("in at it no me be my us is so to am si es la id pro name test example int cat")
_NOT_HOSTS = word_set("the a an our this that my your his her their its")


_ANNOUNCED = re.compile(rb"mail|correo|courriel|posta|adres", re.IGNORECASE)


def _is_phrase(data: bytes, found: Re2Match) -> bool:
    """Returns whether a spelled-out address is an ordinary phrase, or something with an extension."""
    sign, top = found[2].strip(), _SIGNS.split(found[3])[-1].decode().lower()
    if sign[:1] not in b"[({<" and top not in TOP_DOMAINS:
        return True
    if not sign.isalpha() or b" " in found[1] or _ANNOUNCED.search(data, max(0, found.start() - 40), found.start()):
        return False
    if top in _WORD_DOMAINS and not found[3].endswith(b"." + top.encode()):
        return True
    host = found[3].split(None, 1)[0].decode().lower()
    return found[1].decode().lower() in _NOT_LOCAL_PARTS or host in _NOT_HOSTS


def _addresses(data: bytes, at: int, last: int) -> Iterator[Edit]:
    while found := _ADDRESS.search(data, at, last):
        at = found.end()
        if _is_phrase(data, found):
            continue
        if found[2] != b"@":
            yield Edit(found.start(2), found.end(2), b"@", 0.6)
        for part in (1, 3):
            for words, sign in _JOINS:
                for each in words.finditer(data, *found.span(part)):
                    yield Edit(each.start(), each.end(), sign, 0.6)
        for dot in _DOTS.finditer(data, *found.span(3)):
            if dot[0] != b".":
                yield Edit(dot.start(), dot.end(), b".", 0.6)


DEOBFUSCATION = Deobfuscation("spelled_out", RewriteKind.DECODE, _PREFILTER, _spelled_out_edits)
