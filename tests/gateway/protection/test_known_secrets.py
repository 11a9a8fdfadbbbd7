"""A secret that was found by its context is also hidden without it."""

import pytest

from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from tests.gateway.protection.test_known_values import protect

PASSWORD, SECRET = "hunter2" + "xyz", "Zk3Jx9Qm" + "V2bTz8"
FOUND = [
    *(
        (PASSWORD, found)
        for found in (
            "postgresql://app:{}@10.4.2.9:5432/prod",
            "mongodb+srv://admin:{}@cluster0.ab1.mongodb.net/db",
            "https://bob:{}@git.corp.io/x.git",
            "Server=db;User Id=sa;Password={};",
            "curl -u deploy:{} https://api.corp.io",
        )
    ),
    *(
        (SECRET, found)
        for found in (
            "password: {}.",
            "password: {}!",
            "password: {}?",
            "password: {}\u2026",
            "password: **{}**",
            "password: `{}`",
            "password: {}#note",
            "password: {}\\nuser: me",
            "my_secret_value={}",
            "db_secret_access_token={}",
        )
    ),
]


@pytest.mark.parametrize(("secret", "found"), FOUND)
def test_a_secret_is_known_without_what_was_found_with_it(
    protector: Protector, policy: Policy, secret: str, found: str
) -> None:
    text = f"{found.format(secret)}\nLater I typed {secret} by hand, too."
    assert secret not in protect(protector, policy, text)[0]


def test_but_a_password_that_is_a_plain_word_is_not(protector: Protector, policy: Policy) -> None:
    text = "postgresql://postgres:postgres@10.4.2.9/postgres fails. Is postgres running?"
    assert protect(protector, policy, text)[0].endswith("Is postgres running?")
