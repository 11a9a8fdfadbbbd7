"""A secret that was found by its context is also hidden without it."""

import pytest

from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from tests.gateway.protection.test_known_values import protect
from tests.tables import table

CASES = table(__file__)

SECRETS = {"PASSWORD": "hunter2" + "xyz", "SECRET": "Zk3Jx9Qm" + "V2bTz8"}


@pytest.mark.parametrize(("secret", "found"), [(SECRETS[kind], found) for kind, found in CASES["found"]])
def test_a_secret_is_known_without_what_was_found_with_it(
    protector: Protector, policy: Policy, secret: str, found: str
) -> None:
    text = f"{found.format(secret)}\nLater I typed {secret} by hand, too."
    assert secret not in protect(protector, policy, text)[0]


def test_but_a_password_that_is_a_plain_word_is_not(protector: Protector, policy: Policy) -> None:
    text = "postgresql://postgres:postgres@10.4.2.9/postgres fails. Is postgres running?"
    assert protect(protector, policy, text)[0].endswith("Is postgres running?")
