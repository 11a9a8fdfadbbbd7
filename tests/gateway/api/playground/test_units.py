"""The browser's reader of units, without numpy, returns what the gateway's returns."""

import random

import pytest

from gateway.api.playground.browser import units as ours
from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.ordinary_words import WordList
from gateway.detection.ner.units import UnitReader

FILES = (MODEL / "ordinary.txt", MODEL / "given.txt")
SIGNS = (
    "aA äÄ éÉ ßẞ мМ γΓ İǅ 王 明 น 가 1 ٣ ½ _-.,@'\u0301\u093f\u0327\u200d\n\t\u00a0\u2028\x00"
    "Ａ１\U0001f600\U00020000\U0001d400\U0001d7cf\ud800"
)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    chosen = random.Random(7)
    made = ["".join(chosen.choices(SIGNS, k=chosen.randrange(14))) for _ in range(3000)]
    made += ["".join(chr(chosen.randrange(0x110000)) for _ in range(5)) for _ in range(3000)]
    words = [word for file in FILES for word in file.read_text("utf-8").splitlines()[::40]]
    return [*made, *words, " ".join(words), "Ask Wiebke Hartung (Jörg's boss), 12 Elm Rd.\n\n  mother-in-law\r\n"]


def test_units(texts: list[str]) -> None:
    reader = ours.UnitReader(*map(WordList, FILES))
    for text, wanted in zip(texts, UnitReader(*FILES).read_all(texts), strict=True):
        own = reader.read(text)
        assert (own.offsets, own.rows) == (wanted.offsets, wanted.rows.ravel().tolist()), ascii(text)
