"""Identifiers known only by their labels, in seven languages and in the layouts of forms, files and tables."""

import json
from pathlib import Path

import pytest

from gateway.detection import Detector, resolve_overlaps
from gateway.detection.recognizers._id_labels import LABELS
from gateway.models import PrivacyMode
from gateway.policy import PolicyRegistry
from tests.gateway.detection.lines import Case, best, cases, named

LIKELY = 0.5
POLICIES = PolicyRegistry(Path(__file__).resolve().parents[3] / "policies")
LABELLED = cases("labelled")


def hidden(detector: Detector, text: str, mode: PrivacyMode) -> set[str]:
    """What the default policy hides of a text."""
    policy = POLICIES.get("default")
    found = detector.detect(text)
    rules = {one: policy.rule_for(one.type, detector.types[one.type].group, mode) for one in found}
    acted = [one for one, rule in rules.items() if rule.action.value != "keep" and one.score >= rule.min_score]
    return {text[one.start : one.end] for one in resolve_overlaps(acted)}


@pytest.mark.parametrize("case", LABELLED, ids=named)
def test_found_by_its_label(detector: Detector, case: Case) -> None:
    assert best(detector, case) >= LIKELY


def test_every_type_has_cases() -> None:
    assert {case["type"] for case in LABELLED} == LABELS.keys() - {"ORDER_NUMBER"}


@pytest.mark.parametrize("case", cases("clean"), ids=named)
def test_the_default_policy_leaves_clean_texts_alone(detector: Detector, case: Case) -> None:
    assert hidden(detector, case["text"], PrivacyMode.STANDARD) == set()


@pytest.mark.parametrize(
    "text",
    [
        "My order number is 4711-88213.",
        "Rechnungsnummer: RE-2023-0044",
        "numéro de commande : 77120-3",
        "ticket #4481207",
        '{"invoice_no": "2023-00417"}',
    ],
)
def test_numbers_of_orders_and_invoices_are_hidden_in_strict_mode_only(detector: Detector, text: str) -> None:
    assert hidden(detector, text, PrivacyMode.STANDARD) == set()
    assert len(hidden(detector, text, PrivacyMode.STRICT)) == 1


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("customer number", "2023-04-15"),
        ("case number", "14:35"),
        ("contract number", "1,250.00"),
        ("account number", "3 years"),
        ("policy number", "$4500"),
        ("order number", "v2.14.0"),
        ("file number", "d41d8cd98f00b204e9800998ecf8427e"),
        ("student id", "int64"),
        ("patient id", "7"),
        ("member id", "XXXX"),
    ],
)
@pytest.mark.parametrize("between", [": ", " is ", " = ", " "])
def test_what_no_identifier_looks_like(detector: Detector, label: str, between: str, value: str) -> None:
    found = [one for one in detector.detect(f"The {label}{between}{value} here") if one.recognizer == "labelled.id"]
    assert found == []


def test_columns_are_known_by_their_header(detector: Detector) -> None:
    rows = ["first_name;last name;Kundennummer;dob;age;zip;username;city"]
    rows += [f"Zaphod;Beeblebrox;K-4471{n};1985-04-1{n};3{n};1011{n};zb4{n}x;Rome" for n in range(8)]
    text = "\n".join(rows)
    found = {
        (one.type, text[one.start : one.end]) for one in detector.detect(text) if one.recognizer == "labelled.table"
    }
    for n in range(8):
        assert {
            ("PERSON", "Zaphod"),
            ("PERSON", "Beeblebrox"),
            ("CUSTOMER_ID", f"K-4471{n}"),
            ("DATE_OF_BIRTH", f"1985-04-1{n}"),
            ("AGE", f"3{n}"),
            ("POSTAL_CODE", f"1011{n}"),
            ("USERNAME", f"zb4{n}x"),
        } <= found
    assert not {value for _, value in found} & {"Rome", "city", "first_name"}


def test_a_quoted_separator_separates_nothing(detector: Detector) -> None:
    text = 'name,address,customer id\n"Doe, Jane","Am Markt 3, Bremen",C-44712\n'
    found = {text[one.start : one.end] for one in detector.detect(text) if one.type == "CUSTOMER_ID"}
    assert found == {"C-44712"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["presidio_synth_v2.dev", "presidio_generated_large.dev"])
def test_strict_mode_hides_licences_postcodes_and_most_addresses(
    detector: Detector, shared_data: Path, name: str
) -> None:
    file = shared_data / f"{name}.jsonl"
    if not file.is_file():
        pytest.skip(f"{file.name} is not among the labelled data on this machine")
    least = {"US_DRIVER_LICENSE": 0.9, "ZIP_CODE": 0.9, "STREET_ADDRESS": 0.85, "ADDRESS": 0.85, "AGE": 0.95}
    total = dict.fromkeys(least, 0)
    covered = dict.fromkeys(least, 0)
    for line in file.read_text("utf-8").splitlines():
        document = json.loads(line)
        spans = [span for span in document["spans"] if span["label"] in least]
        if not spans:
            continue
        text = document["text"]
        found = [one for one in detector.detect(text) if one.score >= 0.3]
        places = {at for one in found for at in range(one.start, one.end)}
        for span in spans:
            total[span["label"]] += 1
            inside = (at for at in range(span["start"], span["end"]) if text[at].isalnum())
            covered[span["label"]] += all(at in places for at in inside)
    for label, share in least.items():
        assert covered[label] >= share * total[label], label
