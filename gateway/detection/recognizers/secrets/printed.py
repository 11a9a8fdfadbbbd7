"""Passwords that stand on lines of their own in what a terminal shows: answers to prompts, what a command has decoded
or made up, and the lists of accounts that `chpasswd`, OpenVPN and FTP read. Terraform keeps what it made up
in its state.
"""

from collections.abc import Iterator

from gateway.detection.normalized_text import View
from gateway.detection.recognizer import Example, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import LINE, Rule, judged, rule, table

_LIST = r"\bchpasswd\b[^\n]*\n"
_LISTED = compile_pattern(_LIST)
_ACCOUNT = compile_pattern(r"[ \t\-\"']*[a-z_][\w.\-]*:([^\s:\"']+)[\"']?[ \t]*\r?(?:\n|$)")
_OTHER = compile_pattern(r"[ \t]*(?:\w+:(?:[ \t][^\n]*)?)?\r?\n")
_MOST_LINES = 64


def _listed(view: View) -> Iterator[Match]:
    """`user:password`, line by line; words that have a place of their own in such a list are stepped over."""
    data = view.data
    at = 0
    while (head := _LISTED.search(data, at)) is not None:
        at = head.end()
        for _ in range(_MOST_LINES):
            if (account := _ACCOUNT.match(data, at)) is not None:
                yield from judged(view, *account.span(1), values.mixed, 0.75)
                at = account.end()
            elif (other := _OTHER.match(data, at)) is not None:
                at = other.end()
            else:
                break


_word = "Wat3rfall" + "!"
_made = sample(20, BASE62)

_RULES = (
    # `Enter passphrase for key 'id_rsa': …`
    rule(r"(?i)\bpass(?:word|phrase) for [^\n]*[^\n\d]: ", LINE, values.mixed),
    # A line that decodes or makes a secret, and the one line that follows
    rule(
        r"(?:(?i:secret|passw|token)[^\n]*\| *base64 (?:-[dD]|--decode)\b[^\n]*\r?\n"
        r"|\b(?:openssl rand|pwgen|makepasswd|diceware|apg|g?o?pass show|op read|bw get)"
        r" -?\w[^\n]*\r?\n|(?:get-secret-value|--with-decryption) [^\n]*--output text[^\n]*\r?\n"
        r"|\breset\.\r?\nNew value:) *",
        r"([^\s=]+={0,2}) *(?:\r?\n|$)",
        values.made_or_strong,
        gate=r"\| *base64 (?:-[dD]|--decode)\b|get-secret-value|--with-decryption|\breset\.\r?\nNew value:"
        r"|\b(?:openssl rand|pwgen|makepasswd|diceware|apg|g?o?pass show|op read|bw get) -?\w",
    ),
    Rule(_LIST, _listed),
    rule(
        r"(?i)(?:\b(?:user(?:name)?|login|account)\s+\S+\s+pass(?:word)? |<auth-user-pass>\s*\S+\s+"
        r"|(?m:^)[\w.:\-\[\]]+> auth (?:\w+ )?|(?m:^)open \S+(?: \d+)?\r?\nuser \S+ )",
        r"(\S+)",
        values.mixed,
    ),
    rule(
        r"\"random_password\"(?:[^\n]*\n){0,40}?[^\n]*?\"result\"\s*:\s*",
        r"\"([^\"\n]{4,})\"",
        values.any_value,
        gate='"random_password"',
    ),
    # `name@host:password` alone on a line, and `service - name@host - password`
    rule(
        r"[\w+\-]@[\w.\-]+\.[A-Za-z]{2,}(?:[:;|]| [:;|/\-] )",
        r"([^\s/,;|]+) *(?:\r?\n|$)",
        values.told,
        gate=r"[\w+\-]@[\w.\-]+\.[A-Za-z]{2,}(?:[:;|]| [:;|/\-] )[^\s/]*[\d!#$%&*]",
    ),
)

RECOGNIZERS = (
    table(
        "printed",
        _RULES,
        examples=(
            Example(f"Enter passphrase for key 'id_rsa': {_word}\n", _word),
            Example(f"Enter the password for ACME\\jane: {_word}", _word),
            Example(f"$ kubectl get secret db -o jsonpath='{{.data.pw}}' | base64 -d\n{_word}\n$", _word),
            Example(f"$ openssl rand -base64 15\n{_made}\n", _made, "SECRET"),
            Example(f"chpasswd <<EOF\nroot:{_word}\njane:Sunny+4+me\nEOF", "Sunny+4+me"),
            Example(f"chpasswd:\n  list: |\n    root:{_word}\n", _word),
            Example(f"<auth-user-pass>\njane\n{_word}\n</auth-user-pass>", _word),
            Example(f"machine a.io login jane password {_word}", _word),
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
            "machine a.io login jane password <password>",
            "the machine login failed, password wrong",
        ),
    ),
)
