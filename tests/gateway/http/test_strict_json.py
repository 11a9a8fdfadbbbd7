"""Strict JSON: one reading or none, and a refusal never repeats the body."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadRequest, UnsupportedMedia
from gateway.http.strict_json import MAX_DEPTH, TOML, check_media_type, dump, parse, parse_object
from tests.conftest import vectors

CANARY = "canary-4711"

REFUSED = {name: text.encode("latin-1") for name, text in vectors("http/strict_json_refused").items()} | {
    "integer of a million digits": b"1" * 1_000_000,
    "UTF-16": '{"a": "canary-4711"}'.encode("utf-16"),
    "too deep": b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
    "far too deep": b'{"canary-4711":' * 100_000,
    "too deep after a string of brackets": b'["]]]]\\"]]", ' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"]",
}


@pytest.mark.parametrize(
    ("declared", "others", "kind"),
    [
        ("application/json; charset=utf-8", (), "application/json"),
        ("Application/ACME+JSON", (TOML,), "application/acme+json"),
        ("application/toml;charset=utf-8", (TOML,), TOML),
        ("application/toml", (), "Send the body as `Content-Type: application/json`."),
        ("text/plain", (TOML,), "Send the body as `Content-Type: application/json` or `application/toml`."),
        (None, (TOML,), "Send the body as `Content-Type: application/json` or `application/toml`."),
    ],
)
def test_a_body_is_declared_as_what_is_read(declared: str | None, others: tuple[str, ...], kind: str) -> None:
    try:
        read = check_media_type(declared, *others)
    except UnsupportedMedia as refusal:
        read = refusal.message
    assert read == kind


@pytest.mark.parametrize("name", REFUSED)
def test_json_that_can_be_read_in_two_ways_is_refused(name: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse(REFUSED[name])
    assert refusal.value.code == "invalid_json"
    assert CANARY not in refusal.value.message
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    "text",
    [
        "null",
        " [] ",
        '{"a": {"b": [1, 2.5, true, null, "x"]}}',
        '"\\ud83d\\ude00"',
        "[18446744073709551615, -9223372036854775808]",
        "[" * MAX_DEPTH + "]" * MAX_DEPTH,
        json.dumps("[{" * 5000),
        json.dumps({'a"[[[': "\\" * 301 + '"' + "[" * 300}),
    ],
)
def test_valid_json_is_read_unchanged(text: str) -> None:
    assert parse(text) == json.loads(text)
    assert parse(text.encode()) == json.loads(text)


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null"])
def test_a_body_is_an_object(body: bytes) -> None:
    with pytest.raises(BadRequest, match="object"):
        parse_object(body)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab[{"\\é', max_size=3), inner, max_size=4),
)


@pytest.mark.slow
@given(JSON)
def test_written_json_is_read_again(value: object) -> None:
    assert parse(dump(value)) == value
    assert parse(json.dumps(value)) == value


def test_a_lone_surrogate_is_never_written() -> None:
    with pytest.raises(BadRequest) as refusal:
        dump({"a": f"{CANARY}\ud800"})
    assert CANARY not in refusal.value.message
