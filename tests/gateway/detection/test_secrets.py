"""Secrets: checksums, published keys, repetition, and the labelled cases where those are at hand."""

import json
from pathlib import Path
from zlib import crc32

import pytest

from gateway.detection import Detector
from gateway.detection.recognizers import _samples
from tests.tables import table

CASES = table(__file__)

LIKELY = 0.5
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def secrets(detector: Detector, text: str) -> list[tuple[str, str, float]]:
    return [
        (one.type, text[one.start : one.end], one.score)
        for one in detector.detect(text)
        if one.score >= LIKELY and detector.types[one.type].group == "secret"
    ]


def github_token(body: str) -> str:
    check, digits = crc32(body.encode()), ""
    for _ in range(6):
        check, rest = divmod(check, 62)
        digits = BASE62[rest] + digits
    return "ghp" + "_" + body + digits


def test_a_right_checksum_is_certain(detector: Detector) -> None:
    token = github_token(_samples.sample(30))
    assert ("API_KEY", token, 1.0) in secrets(detector, f"use {token} for it")


def test_a_wrong_checksum_still_hides(detector: Detector) -> None:
    token = github_token(_samples.sample(30))
    mistyped = token[:-1] + ("a" if token[-1] != "a" else "b")
    assert [value for _, value, score in secrets(detector, mistyped) if score < 1.0] == [mistyped]


@pytest.mark.parametrize(("before", "unit", "times"), CASES["hostile"].values(), ids=CASES["hostile"])
def test_hostile_repetition_holds_no_secret(detector: Detector, before: str, unit: str, times: int) -> None:
    assert len(secrets(detector, before + unit * times)) <= 1


# In two parts, as no scanner of sources shall stop here.
PUBLISHED = [
    ("AIzaSyAnLA7NfeLquW", "1tJFpx_eQCxoX-oo6YyIs"),
    ("sk_test_4eC39HqLyj", "WDarjtT1zdp7dc"),
    ("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsu", "Fq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="),
]


@pytest.mark.parametrize("parts", PUBLISHED, ids=["firebase", "stripe", "azurite"])
@pytest.mark.parametrize("text", ['apiKey: "{}"', "export API_KEY={}", "AccountName=dev;AccountKey={};", "{}"])
def test_values_that_vendors_publish_are_no_secrets(detector: Detector, parts: tuple[str, str], text: str) -> None:
    assert not secrets(detector, text.format("".join(parts)))


@pytest.mark.parametrize("parts", PUBLISHED, ids=["firebase", "stripe", "azurite"])
def test_another_key_of_that_form_is_one(detector: Detector, parts: tuple[str, str]) -> None:
    other = parts[0][:-2] + "Zq" + parts[1]
    assert secrets(detector, f'apiKey: "{other}"')


def labelled(shared_data: Path, name: str) -> list[dict[str, object]]:
    file = shared_data / "cases" / f"{name}.cases.jsonl"
    if not file.is_file():
        pytest.skip(f"{file.name} is not among the labelled data on this machine")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least_found", "most_touched"),
    # Among what gitleaks leaves alone are rows that are to be found under another rule: those are hidden.
    [("gitleaks_rules_literal", 0.97, 0.05), ("detect_secrets", 0.95, 0.10), ("gitleaks_rules_generated", 0.98, 0.31)],
)
def test_labelled_secrets(
    detector: Detector, shared_data: Path, name: str, least_found: float, most_touched: float
) -> None:
    found: list[bool] = []
    touched: list[bool] = []
    for case in labelled(shared_data, name):
        text = str(case["text"])
        secret = [one for one in detector.detect(text) if one.score >= LIKELY]
        if case["entity"] != "ip_public":
            secret = [one for one in secret if detector.types[one.type].group == "secret"]
        if case["polarity"] != "positive":
            touched.append(bool(secret))
            continue
        hidden = {at for one in secret for at in range(one.start, one.end)}
        spans = case["expected_spans"]
        assert spans is None or isinstance(spans, list)
        needed = {at for start, end in spans or () for at in range(start, end) if text[at].isalnum()}
        found.append(needed <= hidden if needed else bool(secret))
    assert sum(found) >= least_found * len(found)
    assert sum(touched) <= most_touched * len(touched)
