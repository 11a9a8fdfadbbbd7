"""A filter selects by words that it checks and by times in several forms; a refusal names the member, not the value."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.errors import Unprocessable
from gateway.receipts.drafts import OPERATIONS, OUTCOMES
from gateway.receipts.filters import NO_FILTER, Filter
from gateway.store.rows import ALL_RECEIPTS, ReceiptFilter


@pytest.mark.parametrize(
    ("given", "since", "until"),
    [
        ({"since": "2026-01-31"}, "2026-01-31T00:00:00.000Z", None),
        ({"until": "2026-01-31"}, None, "2026-02-01T00:00:00.000Z"),
        ({"since": "2026-01-31T08:00Z"}, "2026-01-31T08:00:00.000Z", None),
        ({"since": "2026-01-31T08:00:00.123456+02:00"}, "2026-01-31T06:00:00.123Z", None),
        ({"since": "2026-01-31", "until": "2026-01-31"}, "2026-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z"),
    ],
)
def test_times(given: dict[str, str], since: str | None, until: str | None) -> None:
    assert Filter.of(given).sought() == ReceiptFilter(since=since, until=until)


@pytest.mark.parametrize(
    ("age", "back"),
    [("90s", timedelta(seconds=90)), ("5m", timedelta(minutes=5)), ("2h", timedelta(hours=2)), ("8w", timedelta(56))],
)
def test_ages(age: str, back: timedelta) -> None:
    before = datetime.now(UTC)
    for name in ("since", "until"):
        read = datetime.fromisoformat(str(getattr(Filter.of({name: age}), name)))
        assert timedelta(0) <= read - (before - back) + timedelta(milliseconds=1) < timedelta(seconds=5)


def test_what_is_given_is_sought() -> None:
    given: dict[str, Any] = {
        "key": ("laptop", "key_1"),
        "policy": ("default",),
        "type": ("PERSON", "URL", "PERSON"),
        "outcome": tuple(OUTCOMES),
        "operation": tuple(OPERATIONS),
        "model": ("gpt-4o",),
    }
    made = Filter.of(given)
    assert made.sought("key_2") == ReceiptFilter(
        owner="key_2",
        keys=("laptop", "key_1"),
        policies=("default",),
        types=("PERSON", "URL"),
        outcomes=given["outcome"],
        operations=given["operation"],
        models=("gpt-4o",),
    )
    assert list(made.given) == list(given)
    assert made.given["type"] == "PERSON, URL"
    assert (NO_FILTER.sought(), NO_FILTER.given, Filter.of(dict.fromkeys(given))) == (ALL_RECEIPTS, {}, NO_FILTER)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("since", "yesterday", "2026-01-31"),
        ("since", "2026-02-30", "age such as 2h"),
        ("since", "2026-03-05T08:00:00", "2026-01-31T08:00:00Z"),
        ("since", "0001-01-01T00:00:00+23:00", "time"),
        ("until", "999999w", "time"),
        ("until", "٣d", "time"),
        ("key", ("",), "the id or the label"),
        ("key", ("\ud800",), "the id or the label"),
        ("key", ("a\nb",), "the id or the label"),
        ("key", ("svck_" + "x" * 30,), "no key itself"),
        ("policy", ("Anna's",), "id of a policy"),
        ("type", ("person",), "entity type"),
        ("outcome", ("answered", "won"), "answered, cancelled"),
        ("operation", ("deletion",), "analyze, chat"),
        ("model", ("a b",), "name of a model"),
        ("model", tuple(f"m{number}" for number in range(33)), "at most 32"),
    ],
)
def test_a_refusal_names_the_member_and_what_is_allowed(name: str, value: Any, words: str) -> None:
    with pytest.raises(Unprocessable, match=words) as refused:
        Filter.of({name: value})
    assert refused.value.param == name
    assert refused.value.message.startswith(f"`{name}`: must ")
    assert not any(
        each and each in refused.value.message for each in ([value] if isinstance(value, str) else value[1:])
    )


def test_the_end_is_after_the_start() -> None:
    with pytest.raises(Unprocessable, match="later than `since`") as refused:
        Filter.of({"since": "1h", "until": "2h"})
    assert refused.value.param == "until"


def test_a_type_is_known_if_it_was_found_or_can_be() -> None:
    both = Filter.of({"type": ("URL", "CUSTOM")})
    Filter.of({"type": ("URL",)}).check_types({"URL"}, lambda: pytest.fail("the slow list is read"))
    both.check_types({"URL"}, lambda: {"CUSTOM"})
    for found, words in (
        ({"URL", "AGE"}, "one of those found here, AGE, URL, or of those in"),
        (set(), "one of those"),
    ):
        with pytest.raises(Unprocessable, match=words) as refused:
            both.check_types(found, lambda: {"PERSON"})
        assert (refused.value.param, "CUSTOM" in refused.value.message) == ("type", False)
