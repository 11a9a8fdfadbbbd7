"""Passwords that stand on lines of their own in what a terminal shows: answers to prompts, what a command has decoded
or made up, and the lists of accounts that `chpasswd`, OpenVPN and FTP read.
Terraform keeps what it made up in its state.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._said_words import NO_VALUE
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers._secret_values import is_chosen, is_made, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD, SECRET

# `Enter passphrase for key 'id_rsa': …`
_PROMPT = r"(?i)\bpass(?:word|phrase) for [^\n]*[^\n\d]:[ \t]+"
_PROMPTED = compile_pattern(rf"(?m){_PROMPT}(\S+)[ \t]*\r?$")
# What Terraform's state keeps of a password that it made up.
_STATE = r"\"random_password\""
_STATED = compile_pattern(r"\"result\"\s*:\s*\"([^\"\n]{4,})\"")
_STATE_REACH = 1600
# A line that decodes or makes a secret, and the one line that follows.
_DECODED = r"\|[ \t]*base64[ \t]+(?:-[dD]|--decode)\b"
_MADE = (
    r"(?:\b(?:openssl[ \t]+rand|pwgen|makepasswd|diceware|apg|g?o?pass[ \t]+show|op[ \t]+read|bw[ \t]+get)[ \t]+-?\w"
    r"|(?:get-secret-value|--with-decryption)[ \t][^\n]*--output[ \t]+text)"
)
_RESET = r"\breset\.\r?\nNew value:"
_SHOWN = compile_pattern(
    rf"(?:(?:(?i:secret|passw|token)[^\n]*{_DECODED}|{_MADE})[^\n]*\r?\n|{_RESET})"
    r"[ \t]*([^\s=]+={0,2})[ \t]*(?:\r?\n|$)"
)
_LIST = r"\bchpasswd\b[^\n]*\n"
_LISTED = compile_pattern(_LIST)
_ACCOUNT = compile_pattern(r"[ \t\-\"']*[a-z_][\w.\-]*:([^\s:\"']+)[\"']?[ \t]*\r?(?:\n|$)")
_OTHER = compile_pattern(r"[ \t]*(?:\w+:(?:[ \t][^\n]*)?)?\r?\n")
_MOST_LINES = 64
_PAIR = (
    r"(?i)(?:\buser(?:name)?[ \t]+\S+[ \t]+pass(?:word)?[ \t]+|<auth-user-pass>\s*\S+\s+"
    r"|(?m:^)[\w.:\-\[\]]+>[ \t]auth[ \t]+(?:\w+[ \t]+)?|(?m:^)open[ \t]+\S+(?:[ \t]+\d+)?\r?\nuser[ \t]+\S+[ \t]+)"
)
_PAIR_PREFILTER = (
    r"(?i)(?:\buser(?:name)?[ \t]+\S+[ \t]+pass(?:word)?[ \t]|<auth-user-pass>|>[ \t]auth[ \t]|(?m:^)open[ \t]+\S+\s)"
)
_PAIRED = compile_pattern(rf"{_PAIR}(\S+)")
# `name@host:password` alone on a line, and `service - name@host - password`.
_MAILBOX = r"[\w+\-]@[\w.\-]+\.[A-Za-z]{2,}(?:[:;|]|[ \t]+[:;|/\-][ \t]+)"
_BEHIND_MAILBOX = compile_pattern(rf"(?m){_MAILBOX}([^\s/,;|]+)[ \t]*\r?$")
_LONGEST = 256
_TELLING = re.compile(r"[!#$%^&*~]|\d\D+\d")
_ODD_SIGN = re.compile(r"[!@#$%^&*+~?]\w")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        yield from _FINDERS[hit](normalized)


def _prompted(normalized: NormalizedText) -> Iterator[Match]:
    for match in _PROMPTED.finditer(normalized.data):
        yield from _password(normalized, *match.span(1))


def _shown(normalized: NormalizedText) -> Iterator[Match]:
    for match in _SHOWN.finditer(normalized.data):
        start, end = match.span(1)
        value = normalized.text(start, min(end, start + _LONGEST))
        if NO_VALUE.fullmatch(value):
            continue
        if is_made(value):
            yield Match(start, end, 0.75, SECRET.name)
        elif is_strong(value):
            yield Match(start, end, 0.75, PASSWORD.name)


def _listed(normalized: NormalizedText) -> Iterator[Match]:
    """`user:password`, line by line; words that have a place of their own in such a list are stepped over."""
    data = normalized.data
    at = 0
    while (head := _LISTED.search(data, at)) is not None:
        at = head.end()
        for _ in range(_MOST_LINES):
            if (account := _ACCOUNT.match(data, at)) is not None:
                yield from _password(normalized, *account.span(1))
                at = account.end()
            elif (other := _OTHER.match(data, at)) is not None:
                at = other.end()
            else:
                break


def _paired(normalized: NormalizedText) -> Iterator[Match]:
    for match in _PAIRED.finditer(normalized.data):
        yield from _password(normalized, *match.span(1))


def _behind_mailbox(normalized: NormalizedText) -> Iterator[Match]:
    for match in _BEHIND_MAILBOX.finditer(normalized.data):
        start, end = match.span(1)
        value = normalized.text(start, end)
        if end - start <= _LONGEST and is_strong(value) and _TELLING.search(value) and not NO_VALUE.fullmatch(value):
            yield Match(start, end, 0.7, PASSWORD.name)


def _stated(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    at = 0
    while (at := data.find(b'"random_password"', at)) >= 0:
        result = _STATED.search(data, at, min(len(data), at + _STATE_REACH))
        at = at + 1 if result is None else result.end()
        if result is not None:
            yield Match(*result.span(1), 0.85, PASSWORD.name)


def _password(normalized: NormalizedText, start: int, end: int) -> Iterator[Match]:
    value = normalized.text(start, end)
    odd = any(map(str.isdigit, value)) or _ODD_SIGN.search(value)
    if end - start <= _LONGEST and odd and is_chosen(value, quoted=False) and not NO_VALUE.fullmatch(value):
        yield Match(start, end, 0.75, PASSWORD.name)


_FINDERS = (_prompted, _shown, _listed, _paired, _stated, _behind_mailbox)
_word = "Wat3rfall" + "!"
_made = sample(20, BASE62)

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.printed",
        (PASSWORD, SECRET),
        (_PROMPT, f"{_DECODED}|{_MADE}|{_RESET}", _LIST, _PAIR_PREFILTER, _STATE, _MAILBOX + r"[^\s/]*[\d!#$%&*]"),
        _find,
        examples=(
            Example(f"Enter passphrase for key 'id_rsa': {_word}\n", _word),
            Example(f"Enter the password for ACME\\jane: {_word}", _word),
            Example(f"$ kubectl get secret db -o jsonpath='{{.data.pw}}' | base64 -d\n{_word}\n$", _word),
            Example(f"$ openssl rand -base64 15\n{_made}\n", _made, "SECRET"),
            Example(f"chpasswd <<EOF\nroot:{_word}\njane:Sunny+4+me\nEOF", "Sunny+4+me"),
            Example(f"chpasswd:\n  list: |\n    root:{_word}\n", _word),
            Example(f"<auth-user-pass>\njane\n{_word}\n</auth-user-pass>", _word),
            Example(f"jane@acme.org:{_word}\n", _word),
            Example(f"127.0.0.1:6379> AUTH {_word}\nOK", _word),
            Example(f'{{"type": "random_password", "instances": [{{"result": "{_word}"}}]}}', _word),
            Example(f"open ftp.acme.org\nuser jane {_word}\nput a.zip", _word),
        ),
        counter_examples=(
            "[sudo] password for jane: \nSorry, try again.",
            "Enter password for user jane: required",
            "echo $SECRET | base64 -d\n$ ls -la",
            "PASS=$(openssl rand -base64 24)\nexport PASS",
            "chpasswd:\n  expire: false\nusers:\n  - name: jane",
            "auth-user-pass\nauth SHA256",
        ),
    ),
)
