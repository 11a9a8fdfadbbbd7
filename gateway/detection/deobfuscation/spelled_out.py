"""Restores punctuation that is spelled out or bracketed: `john at example dot com`, `john [at] example [dot] com`,
`41[.]173[.]96[.]26`, and addresses with spaces around their punctuation.
"""

import re
from collections.abc import Iterator

import re2

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.candidates import TOP_DOMAINS
from gateway.detection.entropy import word_set
from gateway.detection.re2_expression import neighbourhoods
from gateway.detection.recognizer import compile_pattern

_OPEN, _CLOSE = r"\s?[\[({<]\s?", r"\s?[\])}>]\s?"
_AT_WORD = "at|ät|arroba|chiocciola|arobase|apenstaartje"
_DOT_WORD = "dot|punkt|point|punto|ponto|punt"
_AT = rf"(?:{_OPEN}(?:{_AT_WORD}|@){_CLOSE}|\s+(?:{_AT_WORD})\s+|\s?@\s?|[_\-]at[_\-])"
_DOT = rf"(?:{_OPEN}(?:{_DOT_WORD}|\.){_CLOSE}|\s+(?:{_DOT_WORD})\s+|\s\.\s|\.|[_\-]dot[_\-])"
_LABEL = rf"[{LETTERS}\d][{LETTERS}\d\-]*"
_LOCAL = rf"[{LETTERS}\d][{LETTERS}\d._%+\-]*?(?:\s+(?:{_DOT_WORD})\s+[{LETTERS}\d]+)?"
_ADDRESS = compile_pattern(
    rf"(?i)({_LOCAL})({_AT})({_LABEL}(?:{_DOT}{_LABEL}){{0,4}}{_DOT}(?:{'|'.join(TOP_DOMAINS)}))\b"
)
_DOTS = compile_pattern(rf"(?i){_DOT}")
_SPELLED_DOT = compile_pattern(rf"(?i)\s+(?:{_DOT_WORD})\s+")
_BRACKETS = (
    (re.compile(rb"\s?[\[({<]\s?(?:\.|dot)\s?[\])}>]\s?", re.IGNORECASE), b"."),
    (re.compile(rb"[\[({]:[\])}](?=//)"), b":"),
    (re.compile(rb"[\[({]://[\])}]"), b"://"),
    (re.compile(rb"\bhxxp(?=s?[\[({]?:)", re.IGNORECASE), b"http"),
)
_PREFILTER = (
    rf"(?i)\s(?:{_AT_WORD})\s+[{LETTERS}\d\-]+\s+(?:{_DOT_WORD})\s|[\[({{<]\s?(?:\.|dot|at|@)\s?[\])}}>]"
    rf"|[\[({{]:(?:[\])}}]//|//[\])}}])|[{LETTERS}\d]\s@\s?[{LETTERS}\d]|[{LETTERS}\d]@\s[{LETTERS}\d]"
    rf"|\bhxxps?:|[_\-]at[_\-][a-z0-9]+[_\-]dot[_\-]|@[{LETTERS}\d\-.]+(?:\s\.\s|\s+dot\s+)"
)


_COMPILED_PREFILTER = compile_pattern(_PREFILTER)
_BEFORE, _AFTER = 96, 160


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
_LAST_WORD = re.compile(rb"\s(\w+)$")
_WORD_DOMAINS = word_set("in at it no me be my us is so to am si es la id pro name test example int cat")
_NOT_HOSTS = word_set("the a an our this that my your his her their its")


def _is_phrase(found: "re2._Match") -> bool:
    """Returns whether a spelled-out address is an ordinary phrase."""
    if not found[2].strip().isalpha():
        return False
    last = _LAST_WORD.search(found[3])
    if last is not None and last[1].decode().lower() in _WORD_DOMAINS:
        return True
    host = found[3].split(None, 1)[0].decode().lower()
    return found[1].decode().lower() in _NOT_LOCAL_PARTS or host in _NOT_HOSTS


def _addresses(data: bytes, at: int, last: int) -> Iterator[Edit]:
    while found := _ADDRESS.search(data, at, last):
        at = found.end()
        if _is_phrase(found):
            continue
        if found[2] != b"@":
            yield Edit(found.start(2), found.end(2), b"@", 0.6)
        for spelled in _SPELLED_DOT.finditer(data, found.start(1), found.end(1)):
            yield Edit(spelled.start(), spelled.end(), b".", 0.6)
        for dot in _DOTS.finditer(data, found.start(3), found.end(3)):
            if dot[0] != b".":
                yield Edit(dot.start(), dot.end(), b".", 0.6)


DEOBFUSCATION = Deobfuscation("spelled_out", RewriteKind.DECODE, _PREFILTER, _spelled_out_edits)
