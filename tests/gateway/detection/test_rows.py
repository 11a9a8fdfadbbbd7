"""Repetitions are judged once or skipped; values between or after them are found all the same."""

import re

import pytest

from gateway.detection import Detector
from gateway.detection.entropy import periodic_skip
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

ROWS = ["4 1 ", "12 ", "12-", "1.1.", "4/1/", "7 ", "07 12 ", "１２ "]
VALUES = {
    "PHONE_NUMBER": "+49 30 1234567",
    "CREDIT_CARD": "4111 1111 1111 1111",
    "IP_ADDRESS": "41.173.96.26",
    "EMAIL_ADDRESS": "jane.roe@acme-mail.org",
}


def found(detector: Detector, text: str, kind: str) -> list[str]:
    return [text[one.start : one.end] for one in detector.detect(text) if one.type == kind and one.score >= 0.5]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("kind", VALUES)
def test_behind_a_row_of_small_numbers(detector: Detector, row: str, kind: str) -> None:
    sentence = f"\nthe card, the phone: {VALUES[kind]} is mine\n"
    assert VALUES[kind] in found(detector, row * 300 + sentence + row * 300, kind)


@pytest.mark.parametrize("row", ["4 1 ", "12 ", "12-"])
def test_directly_after_a_row(detector: Detector, row: str) -> None:
    assert "+49 30 1234567" in found(detector, f"call {row * 200}+49 30 1234567", "PHONE_NUMBER")
    long, short = (found(detector, f"{row * times}030 9018200", "PHONE_NUMBER") for times in (220, 20))
    assert long == short


@pytest.mark.parametrize(("sign", "digits"), [(" ", "1"), ("-", "12"), (".", "7"), (",", "31")])
def test_steps_are_whole_and_end_before_the_row_does(sign: str, digits: str) -> None:
    unit = (digits + sign).encode()
    data = unit * 100 + b"4155550132"
    step, end = 3 * len(unit), 7 * len(unit)
    skipped = periodic_skip(data, 0, step, end)
    assert skipped % step == 0
    assert len(unit) * 100 - step - 8 <= end + skipped <= len(unit) * 100 - 8


@pytest.mark.parametrize("row", [b"1 2-3 4-" * 20, b"123 " * 20, b"00 12 " * 20, b"a b " * 20])
def test_no_steps_where_signs_or_lengths_change(row: bytes) -> None:
    assert periodic_skip(row, 0, 4, 8) == 0


@pytest.mark.parametrize("label", ["=40=", "key:", "=3D=", "a="])
def test_a_value_broken_over_lines_between_labels(detector: Detector, label: str) -> None:
    key = "ghp_" + "q7Zr2mXw9LpV4tKdB8sNf3Hc6JyGaWe1UoTi"
    text = f"{label}\n" * 40 + f"{key[:22]}\n{key[22:]} ends\n" + f"{label}\n" * 40
    assert found(detector, text, "API_KEY") == [f"{key[:22]}\n{key[22:]}"]


@pytest.mark.parametrize("expression", [r"\d+", r"\d*", r"(a)|b", r"\b"])
@pytest.mark.parametrize(("at", "end"), [(0, None), (3, None), (2, 9), (9, 9), (20, None), (5, 3), (-2, 50)])
def test_finditer_finds_the_same_as_search(expression: str, at: int, end: int | None) -> None:
    data = b"12 ab 345 b 6"
    compiled: Expression = compile_pattern(expression)
    listed = [one.span() for one in compiled.finditer(data, at, end)]
    searched = []
    at = max(0, min(at, len(data)))
    while at <= len(data) and (one := compiled.search(data, at, end)) is not None:
        searched.append(one.span())
        at = max(one.end(), at + 1) if one.end() > at else at + 1
    assert listed == searched
    assert all(re.fullmatch(expression.encode(), data[start:stop]) or expression == r"\b" for start, stop in listed)
