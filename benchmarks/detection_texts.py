"""Texts to measure detection with: ordinary ones, ones full of identifiers, and ones made to be slow.

All are computed from a seed, so that every machine measures the same; no number in them is anybody's.
"""

import json
import random
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from stdnum import iban, luhn

ROOT = Path(__file__).resolve().parents[1]
KB = 1024

_SENTENCES = """
The harbour was rebuilt after the storm of 1824, and its two moles still follow the old plan.
Most of the exhibits on the first floor were given by families from the valley.
When the snow melts early, the river carries more water than the mill can use.
A second edition followed three years later (1911), with a longer preface and no illustrations.
The committee met on 4 April 1987 to decide how the remaining funds should be spent.
"Bread of this kind," she wrote, "keeps for a week if it is wrapped in a clean cloth."
In the nineteenth century the road was little more than a track between the fields.
She studied chemistry in Vienna and returned to teach at the school where she had been a pupil.
The orchestra plays about forty concerts a year, most of them in the smaller towns of Lower Saxony.
Rain is likely in the afternoon, with temperatures between 12 and 15 degrees.
The method works well for small samples, but it needs a great deal of patience.
Thank you for your message about the delivery that arrived last week.
The team has looked at the figures and will send a corrected version before the end of the month.
Please let us know whether the attached draft covers everything that was discussed in the meeting.
We would like to move the appointment, since the room is not available after 3 p.m. on Thursday.
As agreed, the second part of the work starts once the first has been accepted.
There is one open question about the warranty, which the service department will answer.
Of the 340 houses in the village, fewer than half are lived in during the winter.
The bridge is 212 metres long and rests on five arches of grey stone; it cost $1.4 million.
Nobody could say who had opened the window, or why the lamp was still burning.
Its leaves are narrow and dark, and the flowers appear before the end of March.
The museum is closed on Mondays; on all other days the last visitors are let in at five.
Johann Albrecht Weidner (1741-1809) was a clockmaker, and for some years the mayor, of the town.
I'm not sure that the older translation is the better one, but it is certainly easier to read.
The company employs 1,250 people at three sites and had sales of 94.6 million euros in 2019.
Professor Lindgren called the result "a surprise", and repeated the experiment with eight others.
Version 4.2 of the program removed the old menu and brought back the search that users had missed.
The first line, from Halden to Moss, was opened in July 1879; the second had to wait until 1902.
My name for it would be a folly: a tower with no stairs, built by Lord Ashcombe for his guests.
According to the census of 2011, 58.3 percent of the inhabitants were born in another district.
He never answered the letter that Mrs. Hargreave had sent him from Lisbon in the autumn.
See chapter 7, section 3, for the rules on leave; the form can be had from the office in room 214.
""".strip().split("\n")
_NAMES = "Anna Bruno Clara David Elena Felix Greta Hugo Ines Jonas Karin Luis Marta Nils Olga Pedro".split()
_LAST = "Schmidt Rossi Moreau Novak Silva Jansen Weber Costa Keller Berger Lindgren Romano Fischer Duarte".split()
_PATHS = "/api/orders /api/orders/items /static/app.js /login /search /health /api/v2/carts /img/logo.svg".split()
_AGENTS = ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0", "curl/8.5.0", "okhttp/4.12.0")
_WORDS = "connection closed by peer,retrying in 250 ms,cache miss,query took 14 ms,session renewed,queue is empty"


def prose(size: int, seed: int = 1) -> str:
    """Sentences of no one in particular."""
    rng = random.Random(seed)
    return _filled(size, lambda: rng.choice(_SENTENCES), " ")


def dense(size: int, seed: int = 2) -> str:
    """An identifier in every second sentence: addresses, phones, cards, accounts, keys, names."""
    rng = random.Random(seed)
    turn = iter(range(1 << 62))
    return _filled(size, lambda: rng.choice(_SENTENCES) if next(turn) % 2 else _identifier(rng), " ")


def code(size: int, seed: int = 0) -> str:
    """This project's own sources, over and over."""
    files = sorted((ROOT / "gateway").rglob("*.py"))
    others = (file for file in files if "recognizers" not in file.relative_to(ROOT).parts)
    text = "\n".join(file.read_text(encoding="utf-8") for file in others)
    return (text * (size // len(text) + 1))[seed : seed + size]


def logs(size: int, seed: int = 3) -> str:
    """Lines of a web server and of an application."""
    rng = random.Random(seed)
    return _filled(size, lambda: _log_line(rng), "\n")


ORDINARY: dict[str, Callable[[int], str]] = {"prose": prose, "dense": dense, "code": code, "logs": logs}


def _filled(size: int, make: Callable[[], str], between: str) -> str:
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(make())
        length += len(parts[-1]) + len(between)
    return between.join(parts)[:size]


def _identifier(rng: random.Random) -> str:
    first, last = rng.choice(_NAMES), rng.choice(_LAST)
    digits = "".join(rng.choices("0123456789", k=14))
    card = "4" + digits
    account = f"DE00{digits[:8]}0{digits[5:14]}"
    key = "".join(rng.choices("ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789", k=36))
    forms = (
        f"My name is {first} {last}, write to {first}.{last}{digits[:4]}@mail{digits[:3]}.org.".lower(),
        f"Call +49 30 {digits[:7]} or (212) 55{digits[0]}-{digits[1:5]}.",
        f"The card {card}{luhn.calc_check_digit(card)} was charged on Friday.",
        f"Transfer it to {account[:2]}{iban.calc_check_digits(account)}{account[4:]}, please.",
        f"It came from {rng.randrange(11, 99)}.{rng.randrange(255)}.{rng.randrange(255)}.{rng.randrange(1, 255)}.",
        f"SSN {rng.randrange(100, 600)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)} belongs to {first} {last}.",
        f"export GITHUB_TOKEN=ghp_{key}",
        f"Customer number: K-{digits[:7]}, born on {rng.randrange(1, 28)}.{rng.randrange(1, 12)}.19{digits[:2]}.",
    )
    return rng.choice(forms)


def _log_line(rng: random.Random) -> str:
    at = f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}T{rng.randrange(24):02}:{rng.randrange(60):02}"
    address = f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"
    trace = f"{rng.getrandbits(128):032x}"
    uuid = f"{trace[:8]}-{trace[8:12]}-4{trace[13:16]}-a{trace[17:20]}-{trace[20:]}"
    if rng.random() < 0.5:
        status, size = rng.choice((200, 200, 200, 304, 404)), rng.randrange(90_000)
        return (
            f'{address} - - [{at}:07+0000] "GET {rng.choice(_PATHS)} HTTP/1.1" {status} {size} "-" '
            f'"{rng.choice(_AGENTS)}"'
        )
    word = rng.choice(_WORDS.split(","))
    return f"{at}:07.{rng.randrange(1000):03}Z INFO [worker-{rng.randrange(16)}] request={uuid} trace={trace} {word}"


def _run(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _random(alphabet: str) -> Callable[[int], str]:
    return lambda size: "".join(random.Random(4).choices(alphabet, k=size))


def _nested(encode: Callable[[str], str]) -> Callable[[int], str]:
    """An e-mail address encoded again and again, until it fills a KB; then over and over."""
    layer = "jane.roe@acme-mail.org and 4111 1111 1111 1111"
    while len(after := encode(layer)) < KB:
        layer = after
    return _run(layer + " ")


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BASE64 = _LETTERS + _LETTERS.upper() + "0123456789+/"

HOSTILE: dict[str, Callable[[int], str]] = {
    "one long number": _random("0123456789"),
    "zeros": _run("0"),
    "digits and spaces": _run("4 1 "),
    "digits and hyphens": _run("12-"),
    "dotted numbers": _run("1.1."),
    "colons": _run("a:1:"),
    "a@a@a@": _run("a@"),
    "a.a.a.": _run("a."),
    "letters without a space": _random(_LETTERS),
    "base64 without a space": _random(_BASE64),
    "hex without a space": _random("0123456789abcdef"),
    "I'm I'm": _run("I'm "),
    "my name is": _run("my name is "),
    "Mr. Mr.": _run("Mr. "),
    "capital letters": _run("A B "),
    "password=": _run("password="),
    "password='": _run("password='"),
    "token: token:": _run("token: "),
    "http://": _run("http://"),
    "user:pw@": _run("user:pw@"),
    "AKIA": _run("AKIA"),
    "eyJ.eyJ.": _run("eyJ."),
    "begin private key": _run("-----BEGIN PRIVATE KEY-----\n"),
    "%25": _run("%25"),
    "%%%": _run("%"),
    "%41%40": _run("%41%40"),
    "nested percent": _nested(lambda text: quote(text, safe="")),
    "nested base64": _nested(lambda text: b64encode(text.encode()).decode()),
    "nested hex": _nested(lambda text: text.encode().hex()),
    "nested JSON": _nested(json.dumps),
    "HTML entities": _run("&#97;&#64;"),
    "&amp;amp;": _run("&amp;"),
    "quoted-printable": _run("=40=\n"),
    "backslashes": _run("\\"),
    "unicode escapes": _run("\\u0061\\u0040"),
    "zero-width": _run("a\u200b@\u200b"),
    "look-alikes": _run("\u0430\u0435@"),
    "full-width digits": _run("\uff11\uff12 "),
    "combining marks": _run("a" + "\u0301" * 60),
    "spaces": _run(" "),
    "line breaks": _run("a\n"),
    "brackets": _run("([{<"),
    "markup": _run("**a**_b_"),
    "born on born on": _run("born on 1.1."),
    "street 1": _run("Street 1, "),
}
