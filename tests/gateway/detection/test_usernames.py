"""User names and handles where the words around say so."""

import pytest

from gateway.detection import Detector
from tests.gateway.detection.lines import Case, best, cases, named

LIKELY = 0.5


@pytest.mark.parametrize("case", cases("usernames"), ids=named)
def test_found_whole(detector: Detector, case: Case) -> None:
    assert best(detector, case) >= LIKELY


@pytest.mark.parametrize(
    "text",
    [
        "The username is required and the login was successful.",
        'username = request.form["username"]',
        "username: string, login: LoginForm()",
        "@property\ndef name(self): ...",
        "import x from '@angular/core'",
        "write to jane@example.org",
        "The handle is closed.",
        "USERNAME is set",
    ],
)
def test_no_user_name(detector: Detector, text: str) -> None:
    assert [one for one in detector.detect(text) if one.type == "USERNAME" and one.score >= LIKELY] == []


@pytest.mark.parametrize(
    ("folder", "account"), [("home", "runner"), ("home", "ubuntu"), ("home", "your-name"), ("Users", "username")]
)
def test_the_home_folder_of_a_service_or_of_anybody_names_no_account(
    detector: Detector, folder: str, account: str
) -> None:
    assert [one for one in detector.detect(f"cd /{folder}/{account}/app") if one.type == "USERNAME"] == []


def test_a_part_of_a_path_on_the_web_is_no_home_folder(detector: Detector) -> None:
    for text in ("GET /{}/dashboard", "https://acme.test/{}/dashboard/x", "src/{}/components/x.tsx"):
        assert [one for one in detector.detect(text.format("home")) if one.type == "USERNAME"] == []
