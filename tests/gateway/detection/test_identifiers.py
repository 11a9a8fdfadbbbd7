"""Structured identifiers: every row of the tables, every region's telephone numbers, and what looks like them."""

import json
import random
import re
from pathlib import Path

import phonenumbers
import pytest
import re2

from gateway.detection import Detector
from gateway.detection.recognizers import _phone_plans
from gateway.detection.recognizers._numbers.number import NUMBERS, Number
from gateway.detection.recognizers.government_numbers import RECOGNIZERS
from tests.tables import table

CASES = table(__file__)

LIKELY = 0.5
SIGNS = str.maketrans("", "", " -./:_+()")
PROVEN = [number for number in NUMBERS if number.proves]
# One digit more or less is as good: no check digit exists, or none is published.
FORM_ONLY = {*CASES["form_only"]}
# A second row finds, with less certainty, what fails the check of the first.
TWO_ROWS = {"DE_VAT_ID", "DE_ID_CARD", "SG_NRIC_FIN"}
PLAIN = "The batch {} was packed in the afternoon, and nobody in the whole department thought about it again."


def likely(detector: Detector, text: str) -> dict[tuple[str, str], float]:
    """(type, value) -> score of all that a default policy would act on."""
    found = (one for one in detector.detect(text) if one.score >= LIKELY)
    return {(one.type, text[one.start : one.end]): one.score for one in found}


def by_name(number: Number) -> str:
    return number.name


def test_at_least_sixty_countries_with_a_check() -> None:
    assert len({number.name[:2] for number in PROVEN}) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS, ids=by_name)
def test_every_phrase_that_announces_a_number_does(detector: Detector, number: Number) -> None:
    for phrase in number.words:
        assert (number.name, number.example) in likely(detector, f"{phrase}: {number.example}"), phrase


def broken(number: Number) -> list[str]:
    """The example with one digit changed, wherever its check notices."""
    check = number.is_valid()
    assert check is not None
    changed = (
        number.example[:at] + digit + number.example[at + 1 :]
        for at, char in enumerate(number.example)
        if char.isdigit()
        for digit in "0123456789"
    )
    return [one for one in changed if not check(one if number.signed else one.translate(SIGNS))]


@pytest.mark.parametrize("number", [one for one in PROVEN if one.name not in FORM_ONLY], ids=by_name)
def test_a_number_whose_check_fails_is_not_that_number(detector: Detector, number: Number) -> None:
    wrong = broken(number)[0]
    assert (number.name, wrong) not in likely(detector, f"{number.words[0]}: {wrong}")


def test_numbers_without_a_check_are_listed() -> None:
    assert {number.name for number in PROVEN if not broken(number)} | TWO_ROWS == FORM_ONLY


@pytest.mark.parametrize("number", NUMBERS, ids=by_name)
def test_without_words_a_number_is_as_sure_as_its_row_says(detector: Detector, number: Number) -> None:
    rows = [other for other in NUMBERS if other.name == number.name]
    surest = max(max(other.score, other.grouped) for other in rows)
    found = {(one.type, one.start): one.score for one in detector.detect(PLAIN.format(number.example))}
    assert found.get((number.name, PLAIN.index("{")), 0.0) <= surest


def test_no_bare_number_of_nine_to_eleven_digits_is_hidden_by_default(detector: Detector) -> None:
    numbers = random.Random(20)
    for length in (9, 10, 11):
        for _ in range(400):
            digits = "".join(numbers.choices("0123456789", k=length))
            assert likely(detector, PLAIN.format(digits)) == {}


def test_the_prefilter_matches_every_form() -> None:
    gate = re2.compile(RECOGNIZERS[0].prefilters[0])
    shapes = {shape for number in NUMBERS for shape, _, _ in number.shapes()}
    assert [shape for shape in shapes if not gate.search(shape.replace("A", "X"))] == []


def test_forms_are_written_in_the_signs_that_are_read() -> None:
    for number in NUMBERS:
        assert all(re.fullmatch(r"[A-Z0-9#@*~ \-./:_+()]+", form) for form in number.forms), number.name
        assert any(number.shapes())


@pytest.mark.parametrize("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_international_numbers_of_every_region(detector: Detector, region: str) -> None:
    number = phonenumbers.example_number(region)
    assert number is not None
    for style in (phonenumbers.PhoneNumberFormat.INTERNATIONAL, phonenumbers.PhoneNumberFormat.E164):
        value = phonenumbers.format_number(number, style)
        assert likely(detector, f"Ask at {value}, please.")["PHONE_NUMBER", value] == 1.0


@pytest.mark.parametrize("region", ["GB", "DE", "FR", "IT", "ES", "NL", "PL", "SE", "US", "BR", "IN", "JP", "TR", "ZA"])
def test_national_numbers_after_a_word(detector: Detector, region: str) -> None:
    number = phonenumbers.example_number_for_type(region, phonenumbers.PhoneNumberType.MOBILE)
    assert number is not None
    value = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    assert ("PHONE_NUMBER", value) in likely(detector, f"Phone: {value}.")


def test_numbering_plans_answer_as_phonenumbers_does() -> None:
    """Except for a zero after the calling code, which people write and phonenumbers drops in some countries only."""
    numbers = random.Random(7)
    for code in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE):
        for _ in range(20):
            digits = f"{code}{numbers.choice('123456789')}{numbers.randrange(10**8, 10**9)}"
            parsed = phonenumbers.parse(f"+{digits}")
            if str(parsed.national_number) == digits[len(str(code)) :]:
                assert _phone_plans.is_valid(digits) == phonenumbers.is_valid_number(parsed), code


@pytest.mark.slow
def test_the_cases_of_presidio(detector: Detector, shared_data: Path) -> None:
    """Found: right type and span, with any score. Left alone: nothing of the type that a default policy acts on."""
    file = shared_data / "cases" / "presidio_recognizers.cases.jsonl"
    if not file.is_file():
        pytest.skip(f"{file.name} is not among the labelled data on this machine")
    found, wanted, alone, harmless = 0, 0, 0, 0
    for case in map(json.loads, file.read_text("utf-8").splitlines()):
        spans = {(one.start, one.end): one.score for one in detector.detect(case["text"]) if one.type == case["entity"]}
        if case["polarity"] == "negative":
            harmless += 1
            alone += all(score < LIKELY for score in spans.values())
        else:
            wanted += 1
            expected = [tuple(span) for span in case["expected_spans"] or []]
            found += set(expected) <= set(spans) if expected else len(spans) >= case["expected_count"]
    assert found >= 0.95 * wanted
    assert alone >= 0.95 * harmless
