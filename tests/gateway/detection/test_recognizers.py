"""Every discovered recognizer does what its own examples say, through the whole detector."""

import pytest

from gateway.detection import Detector, Recognizer
from gateway.detection.discovery import discover
from gateway.detection.normalized_text import normalize_text
from gateway.detection.recognizer import compile_pattern

RECOGNIZERS = discover()


def by_id(recognizer: Recognizer) -> str:
    return recognizer.id


@pytest.mark.slow
@pytest.mark.parametrize("recognizer", RECOGNIZERS, ids=by_id)
def test_finds_its_examples_exactly(detector: Detector, recognizer: Recognizer) -> None:
    assert recognizer.examples, "a recognizer without examples proves nothing"
    for example in recognizer.examples:
        wanted = example.type or recognizer.types[0].name
        found = {
            example.text[one.start : one.end]: one.score for one in detector.detect(example.text) if one.type == wanted
        }
        assert found.get(example.value, 0.0) >= example.score


@pytest.mark.parametrize("recognizer", RECOGNIZERS, ids=by_id)
def test_leaves_its_counter_examples_alone(detector: Detector, recognizer: Recognizer) -> None:
    assert recognizer.counter_examples, "a recognizer without counter-examples may find anything"
    for text in recognizer.counter_examples:
        assert recognizer.id not in {one.recognizer for one in detector.detect(text)}


@pytest.mark.parametrize("recognizer", RECOGNIZERS, ids=by_id)
def test_prefilter_matches_every_example(recognizer: Recognizer) -> None:
    """A prefilter narrower than its recognizer would lose findings. The recognizer itself does not run here."""
    gates = [compile_pattern(gate) for gate in recognizer.prefilters]
    for example in recognizer.examples:
        view = normalize_text(example.text)
        found = {number for number in range(len(gates)) if tuple(recognizer.find(view, [number]))}
        open_gates = {number for number, gate in enumerate(gates) if gate.search(view.data)}
        assert found <= open_gates


def test_every_type_of_the_first_floor_is_there(detector: Detector) -> None:
    wanted = {
        *("PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "US_ITIN", "IP_ADDRESS"),
        *("MAC_ADDRESS", "URL", "URL_WITH_CREDENTIALS", "CONNECTION_STRING", "DATE_OF_BIRTH", "AGE", "PRIVATE_KEY"),
        *("JWT", "API_KEY", "SECRET", "PASSWORD", "CRYPTO", "US_BANK_NUMBER", "ABA_ROUTING_NUMBER", "US_PASSPORT"),
        *("US_DRIVER_LICENSE", "BIC_CODE"),
    }
    assert wanted <= set(detector.types)
