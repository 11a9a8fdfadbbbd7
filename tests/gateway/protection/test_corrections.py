"""A caller's corrections: what they leave in clear, what they never do, and that turns repeat their bytes."""

import re
from typing import Any

import pytest

from gateway.corrections.given import read_given
from gateway.corrections.lists import Corrections
from gateway.errors import Forbidden
from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.protection.protector import Protected, Protector
from gateway.text.fields import TextField
from tests.gateway.policy import policy as policy_of

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7h8"
CARD = "4111 1111 1111 1111"


def protect(
    protector: Protector,
    policy: Policy,
    *blocks: str,
    allow: Any = None,
    deny: Any = None,
    remember_for: str | None = "key_anna",
) -> tuple[list[str], Protected]:
    """Returns the blocks with placeholders as their types, and the result."""
    bodies = [{"text": text} for text in blocks]
    fields = [[TextField(body, "text", body["text"])] for body in bodies]
    done = protector.protect(
        fields,
        policy,
        PrivacyMode.STANDARD,
        Placeholders(b"k" * 32),
        remember_for=remember_for,
        corrections=Corrections(read_given(allow, deny)),
    )
    return [re.sub(r"\[([A-Z_]+)_[0-9A-Z]{5}\]", r"[\1]", body["text"]) for body in bodies], done


PROJECT = {"type": "PROJECT", "value": "Blue Heron"}


@pytest.mark.parametrize(
    ("blocks", "allow", "deny", "protected"),
    [
        (["To a@acme.test, b@acme.test"], ["a@acme.test"], [], ["To a@acme.test, [EMAIL_ADDRESS]"]),
        # As a whole only, as it is spelled.
        (["To a@acme.test"], ["A@acme.test", "acme.test", "a"], [], ["To [EMAIL_ADDRESS]"]),
        (["Dear Ms Wilhelmina Oxenfoord"], ["Oxenfoord"], [], ["Dear Ms [PERSON]"]),
        # Where spreading would hide it; parts of other hidden values stay hidden.
        (
            ["I am Wilhelmina Oxenfoord.", "Oxenfoord, Wilhelmina."],
            ["Oxenfoord"],
            [],
            ["I am Wilhelmina Oxenfoord.", "Oxenfoord, Wilhelmina."],
        ),
        (
            ["My name is Wilhelmina Oxenfoord. Wilhelmina came."],
            ["Wilhelmina"],
            [],
            ["My name is [PERSON]. Wilhelmina came."],
        ),
        (
            ["My name is Wilhelmina Oxenfoord. Wilhelmina came."],
            ["Wilhelmina Oxenfoord"],
            [],
            ["My name is Wilhelmina Oxenfoord. Wilhelmina came."],
        ),
        (
            ["Wilhelmina came.", "My name is Wilhelmina Oxenfoord."],
            ["Wilhelmina"],
            [],
            ["Wilhelmina came.", "My name is [PERSON]."],
        ),
        (
            ["My name is Wilhelmina Oxenfoord.", "wilhelmina.oxenfoord@acme.test"],
            ["wilhelmina.oxenfoord@acme.test"],
            [],
            ["My name is [PERSON].", "wilhelmina.oxenfoord@acme.test"],
        ),
        # Never secrets, and nothing that the policy does not let be.
        ([f"token {SECRET}"], [SECRET], [], ["token [API_KEY]"]),
        ([f"card {CARD}"], [CARD], [], ["card [CREDIT_CARD]"]),
        (["Born on 4 May 1980"], ["4 May 1980"], [], ["Born on [DATE_OF_BIRTH]"]),
        # Denied: in any case, and also what the policy keeps.
        (["The blue\nheron flies"], [], [PROJECT], ["The [PROJECT] flies"]),
        (["In 2024-05-04"], [], [{"type": "DATE_TIME", "value": "2024-05-04"}], ["In [DATE_TIME]"]),
        (["Blue Heron", "and", "Blue Heron"], ["Blue"], [PROJECT], ["[PROJECT]", "and", "[PROJECT]"]),
        (["To a@acme.test"], [], [{"type": "PROJECT", "value": "acme"}], ["To [EMAIL_ADDRESS]"]),
        (["Blue Heron"], ["Blue Heron"], [PROJECT], ["[PROJECT]"]),
    ],
)
def test_corrections(
    protector: Protector, policy: Policy, blocks: list[str], allow: Any, deny: Any, protected: Any
) -> None:
    first, done = protect(protector, policy, *blocks, allow=allow, deny=deny)
    assert first == protected
    for remember_for in ("key_anna", None):
        again, after = protect(protector, policy, *blocks, allow=allow, deny=deny, remember_for=remember_for)
        assert again == protected, "from the memory or not"
        assert after.applied is not None
        assert done.applied is not None
        assert after.applied.counts() == done.applied.counts()


def test_what_one_request_corrects_is_not_remembered_for_another(protector: Protector, policy: Policy) -> None:
    text = "To c@acme.test and Blue Heron"
    hidden = "To [EMAIL_ADDRESS] and Blue Heron"
    assert protect(protector, policy, text)[0] == [hidden]
    assert protect(protector, policy, text, allow=["c@acme.test"])[0] == [text]
    assert protect(protector, policy, text, deny=[PROJECT])[0] == ["To [EMAIL_ADDRESS] and [PROJECT]"]
    assert protect(protector, policy, text)[0] == [hidden]


def test_what_a_policy_denies_or_blocks_is_not_allowed(protector: Protector) -> None:
    own = policy_of(extends="default", deny=[{"type": "PERSON", "terms": ["Wilhelmina Oxenfoord"]}])
    assert protect(protector, own, "Ask Wilhelmina Oxenfoord", allow=["Wilhelmina Oxenfoord"])[0] == ["Ask [PERSON]"]
    blocking = policy_of(extends="default", rules={"contact": {"action": "block"}})
    with pytest.raises(Forbidden):
        protect(protector, blocking, "To a@acme.test", allow=["a@acme.test"])
    none = policy_of(extends="default", may_allow=[])
    assert protect(protector, none, "To a@acme.test", allow=["a@acme.test"])[0] == ["To [EMAIL_ADDRESS]"]


def test_a_denied_value_prevails_over_the_policys_allow_list(protector: Protector) -> None:
    own = policy_of(extends="default", allow=[{"values": ["a@acme.test"]}])
    denied = [{"type": "EMAIL_ADDRESS", "value": "a@acme.test"}]
    assert protect(protector, own, "To a@acme.test", deny=denied)[0] == ["To [EMAIL_ADDRESS]"]


def test_a_type_that_only_the_caller_knows_is_counted_as_custom(protector: Protector, policy: Policy) -> None:
    """A receipt must not hold words of the caller."""
    text = "Blue Heron, Wilhelmina and a@acme.test"
    deny = [{"type": "ANNA_SCHMIDT", "value": "Blue Heron"}, {"type": "PERSON", "value": "Wilhelmina"}]
    (protected,), done = protect(protector, policy, text, deny=deny)
    assert protected == "[ANNA_SCHMIDT], [PERSON] and [EMAIL_ADDRESS]"
    assert done.counts() == {"CUSTOM": 1, "EMAIL_ADDRESS": 1, "PERSON": 1}
    blocking = policy_of(otherwise={"action": "block"})
    with pytest.raises(Forbidden) as refused:
        protect(protector, blocking, text, deny=deny)
    assert "ANNA" not in refused.value.message
    assert {one.type for one in refused.value.hidden} == {"CUSTOM", "EMAIL_ADDRESS", "PERSON"}


PASSWORD = "Tr0ub4dor&3xYz9"
STRICT = policy_of(
    otherwise={"action": "placeholder"},
    rules={
        "secret": {"action": "redact"},
        "CREDIT_CARD": {"action": "mask", "keep_last": 4},
        "LOCATION": {"action": "keep"},
    },
)


@pytest.mark.parametrize("type", ["CREDIT_CARD", "PERSON", "LOCATION", "PROJECT"])
@pytest.mark.parametrize(
    ("blocks", "denied", "protected"),
    [
        ([f"password: {PASSWORD}"], PASSWORD, ["password: [PASSWORD removed]"]),
        ([f"key {SECRET} there"], SECRET, ["key [API_KEY removed] there"]),
        ([f"password: {PASSWORD}"], "Tr0ub4dor", ["password: [PASSWORD removed]"]),
        ([f"card {CARD}"], CARD, ["card **** **** **** 1111"]),
        # Where only another text shows what it is.
        ([PASSWORD, f"password: {PASSWORD}"], PASSWORD, ["[PASSWORD removed]", "password: [PASSWORD removed]"]),
        ([f"password: {PASSWORD}", PASSWORD], PASSWORD, ["password: [PASSWORD removed]", "[PASSWORD removed]"]),
    ],
)
def test_a_denied_value_does_not_change_what_the_policy_hides(
    protector: Protector, blocks: list[str], type: str, denied: str, protected: list[str]
) -> None:
    plain, _ = protect(protector, STRICT, *blocks)
    for remember_for in ("key_anna", None):
        deny = [{"type": type, "value": denied}]
        assert protect(protector, STRICT, *blocks, deny=deny, remember_for=remember_for)[0] == protected
    assert plain[-1] == protected[-1]


@pytest.mark.parametrize(
    ("text", "type", "denied", "protected"),
    [
        (
            f"password: {PASSWORD} 8831 4242",
            "CREDIT_CARD",
            f"{PASSWORD} 8831 4242",
            "password: [PASSWORD removed] [CREDIT_CARD]",
        ),
        (f"password: {PASSWORD}", "PROJECT", f"password: {PASSWORD}", "[PROJECT]: [PASSWORD removed]"),
        ("Blue jo@acme.test Heron", "EMAIL_ADDRESS", "Blue jo@acme.test Heron", "[EMAIL_ADDRESS]"),
    ],
)
def test_a_denied_value_hides_what_is_beside(
    protector: Protector, text: str, type: str, denied: str, protected: str
) -> None:
    (shown,), done = protect(protector, STRICT, text, deny=[{"type": type, "value": denied}])
    assert shown == protected
    assert done.applied is not None
    assert done.applied.counts() == {"deny": {"asked": 1, "applied": 1, "stored": 0}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("smtp://bob.miller@acme.test:Sup3rS3cret@mail.acme.test", "Sup3rS3cret@mail.acme.test"),
        ("smtp://bob.miller@acme.test:Sup3rS3cret@mail.acme.test", "bob.miller@acme.test"),
        ("postgres://svc@corp.test:Hunter22x@db.corp.test/x", "Hunter22x@db.corp.test"),
        ("ftp://a@b.test:Hunter22x@host.test", "Hunter22x@host.test"),
        ("SMTP_PASSWORD=hunter2@acme.test", "hunter2@acme.test"),
        ("password = bob.miller@acme.test", "bob.miller@acme.test"),
        ("my password is +44 20 7946 0958", "+44 20 7946 0958"),
        ('{"password": "bob.miller@acme.test"}', "bob.miller@acme.test"),
    ],
)
def test_a_value_in_the_place_of_a_secret_is_not_allowed(
    protector: Protector, policy: Policy, text: str, value: str
) -> None:
    before = f"Write to {value} today."
    for blocks in ([text], [before, text], [text, before]):
        shown, _ = protect(protector, policy, *blocks, allow=[value])
        assert value.partition("@")[0] not in shown[blocks.index(text)]


@pytest.mark.parametrize("text", ["Email: {}, password reset?", "To {}, b", "contact: {}", "password: ?\nemail: {}"])
def test_a_value_beside_a_secret_is_allowed(protector: Protector, policy: Policy, text: str) -> None:
    said = text.format("bob.miller@acme.test")
    assert protect(protector, policy, said, allow=["bob.miller@acme.test"])[0] == [said]
