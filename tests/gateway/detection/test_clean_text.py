"""Sources hold next to nothing private: what would be hidden in the standard library, looked through value by value.

What a person has found right (authors' addresses, example networks) is kept as digests; all else counts as false.
"""

import json
import sysconfig
from pathlib import Path

import pytest

from benchmarks.clean_text import per_mb, search
from gateway.detection import Detector
from gateway.models import PrivacyMode
from tests.gateway.evaluation.words import seeker

RIGHT = Path(__file__).resolve().parents[2] / "vectors" / "detection" / "clean_text_right.json"


@pytest.mark.slow
def test_few_false_findings_in_the_standard_library(detector: Detector) -> None:
    """At most two secrets and five other values a MB."""
    known = set(json.loads(RIGHT.read_text("utf-8")))
    folder = Path(sysconfig.get_path("stdlib"))
    seen, size = search([folder], [".py", ".txt"], seeker(detector, PrivacyMode.STANDARD))
    assert size > 5_000_000
    assert len([one for one in seen if one.digest in known]) > 50, "the search finds what is there"
    false = [one for one in seen if one.digest not in known]
    secrets, others = per_mb(false, size)
    places = [f"{one.type} {one.file}:{one.line}" for one in false]
    assert secrets <= 2, places
    assert others <= 5, places
