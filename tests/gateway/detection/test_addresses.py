"""Postal addresses and postcodes, in the layouts of many countries."""

import pytest

from gateway.detection import Detector
from tests.gateway.detection.lines import Case, best, cases, named

LIKELY = 0.5


@pytest.mark.parametrize("case", cases("addresses"), ids=named)
def test_found_whole(detector: Detector, case: Case) -> None:
    assert best(detector, case) >= LIKELY


@pytest.mark.parametrize(
    "text",
    [
        "I waited 20 minutes on the corner of the street with 2 friends.",
        "On 12 March 1990 the 3rd Street band played 4 songs.",
        "Send it via Port 80 or via USB 3.",
        "The road is 12 km long and has 4 lanes.",
        "address = sock.recvfrom(1024)",
        "IP address: 192.0.2.7",
        "Suite 12 of the opera has 3 parts.",
        "We live in Zone 2 since 2019.",
    ],
)
def test_no_address(detector: Detector, text: str) -> None:
    assert [one for one in detector.detect(text) if one.type == "STREET_ADDRESS" and one.score >= LIKELY] == []


@pytest.mark.parametrize("prefix", ["", "> ", "    ", "| "])
def test_lines_of_an_address_are_one_finding(detector: Detector, prefix: str) -> None:
    lines = ["14 Rosebery Avenue", "Flat 3", "London", "EC1R 4TD", "United Kingdom"]
    text = "Jane Doe\n" + "\n".join(prefix + line for line in lines) + "\nTel. soon"
    whole = [one for one in detector.detect(text) if one.type == "STREET_ADDRESS"]
    assert [(text[one.start : one.end].split("\n")[0], text[one.start : one.end].split()[-1]) for one in whole] == [
        ("14 Rosebery Avenue", "Kingdom")
    ]


def test_what_follows_an_address_stays_outside(detector: Detector) -> None:
    text = "I live at 14 Rosebery Avenue, London. Please call Jane at noon."
    (found,) = (one for one in detector.detect(text) if one.type == "STREET_ADDRESS")
    assert text[found.start : found.end] == "14 Rosebery Avenue, London"


@pytest.mark.parametrize(
    ("address", "letter"),
    [
        ("Unit 7/88 Cockatoo Parade\nMAROUBRA NSW 2035", "Dear Bronte"),
        ("Rua das Acácias, 455, ap. 302, Vila Mariana, São Paulo, CEP 04101-000", "Abraço,\nFátima Tavares"),
    ],
)
def test_an_address_ends_before_the_letter(detector: Detector, address: str, letter: str) -> None:
    text = f"Endereço: {address}\n\n{letter}\n\nRe: the meeting"
    found = [text[one.start : one.end] for one in detector.detect(text) if one.type == "STREET_ADDRESS"]
    assert max(found, key=len) == address


def test_an_address_goes_on_behind_blank_lines_up_to_its_postcode(detector: Detector) -> None:
    text = "Anna\n\n14 Elm Street\n\nSpringfield, IL 62704\n\nDear Anna"
    (found,) = (one for one in detector.detect(text) if one.type == "STREET_ADDRESS")
    assert text[found.start : found.end] == "14 Elm Street\n\nSpringfield, IL 62704"
