"""Texts to measure with: ordinary business prose with private values in it, never the same twice."""

import random

import orjson

_FIRST = "Anna Bruno Clara David Elena Felix Greta Hugo Ines Jonas Karin Luis Marta Nils Olga Pedro".split()
_LAST = "Schmidt Rossi Moreau Novak Silva Jansen Weber Costa Keller Berger Lindgren Romano Fischer Duarte".split()
_PROSE = (
    "Thank you for your message about the delivery that arrived last week.",
    "The team has looked at the figures and will send a corrected version before the end of the month.",
    "Please let us know whether the attached draft covers everything that was discussed in the meeting.",
    "We would like to move the appointment, since the room is not available in the afternoon.",
    "As agreed, the second part of the work starts once the first has been accepted.",
    "There is one open question about the warranty, which our colleagues in the service department will answer.",
)


def _person(rng: random.Random) -> str:
    first, last = rng.choice(_FIRST), rng.choice(_LAST)
    mail = f"{first}.{last}{rng.randrange(10**6)}@mail{rng.randrange(1000)}.example.org".lower()
    phone = f"+49 30 {rng.randrange(10**6, 10**7)}"
    return f"Dear {first} {last}, we reach you at {mail} or {phone}."


def prose(size: int, rng: random.Random) -> str:
    """About `size` characters of business prose; every 2,500 begin with a person's name, address and phone number."""
    parts: list[str] = []
    length = people = 0
    while length < size:
        if length >= people * 2500:
            sentence = _person(rng)
            people += 1
        else:
            sentence = rng.choice(_PROSE)
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)[:size]


def chats(size: int, count: int, model: str, seed: int = 7) -> list[bytes]:
    """Chat requests of one user message."""
    rng = random.Random(seed)
    return [
        orjson.dumps({"model": model, "messages": [{"role": "user", "content": prose(size, rng)}]})
        for _ in range(count)
    ]


def conversation(turns: int, size: int, model: str, rng: random.Random) -> list[bytes]:
    """The requests of one conversation, turn by turn, each with everything said before."""
    messages = [{"role": "system", "content": prose(size, rng)}]
    requests = []
    for _ in range(turns):
        messages.append({"role": "user", "content": prose(size, rng)})
        requests.append(orjson.dumps({"model": model, "messages": messages}))
        messages.append({"role": "assistant", "content": prose(size, rng)})
    return requests
