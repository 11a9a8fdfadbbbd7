"""Numbers that are read out, as in transcripts of calls."""

import pytest

from gateway.detection import Detector


@pytest.mark.parametrize(
    ("text", "value", "type_name"),
    [
        (
            "Call me back on five oh three, five five five, oh one four two.",
            "five oh three, five five five, oh one four two",
            "PHONE_NUMBER",
        ),
        (
            "My phone number is two one two five five five forty-two seventeen.",
            "two one two five five five forty-two seventeen",
            "PHONE_NUMBER",
        ),
        (
            "Agent: Your mobile?\nCaller: Oh double seven double oh, nine hundred, one four six.",
            "Oh double seven double oh, nine hundred, one four six",
            "PHONE_NUMBER",
        ),
        (
            "Agent: Your member number?\nCaller: seven seven oh four one nine two.",
            "seven seven oh four one nine two",
            "MEMBERSHIP_ID",
        ),
        (
            "it's four five three nine, five seven eight seven, six three six two, one four eight six",
            "four five three nine, five seven eight seven, six three six two, one four eight six",
            "CREDIT_CARD",
        ),
        (
            "Meine Nummer ist null eins sieben eins, fünf fünf fünf, null eins zwei drei.",
            "null eins sieben eins, fünf fünf fünf, null eins zwei drei",
            "PHONE_NUMBER",
        ),
        (
            "Mi teléfono es seis uno dos, tres cuatro cinco, seis siete ocho",
            "seis uno dos, tres cuatro cinco, seis siete ocho",
            "PHONE_NUMBER",
        ),
    ],
)
def test_a_number_that_is_read_out_is_found(detector: Detector, text: str, value: str, type_name: str) -> None:
    assert (value, type_name) in [(text[one.start : one.end], one.type) for one in detector.detect(text)]


@pytest.mark.parametrize(
    "text",
    [
        "ten nine eight seven six five four three two one, lift-off",
        "The keys one two three four five six seven eight nine zero are in the top row.",
        "One, two, three or four of them; call five or six.",
        "Phone us between nine and ten, or one of two to four.",
    ],
)
def test_counting_is_no_number(detector: Detector, text: str) -> None:
    assert not detector.detect(text)
