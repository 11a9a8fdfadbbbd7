"""The key of Gemini's API in the query: found in every spelling, and nothing else of the query is touched."""

import pytest

from gateway.auth.query_key import is_google, take_keys, with_key
from gateway.errors import BadRequest

KEY = "AIza" + "-not-a-key-of-anyone"

OTHERS = ["", "alt=sse", "monkey=1", "Key=a", "key", "%256bey=a", "a=key=b", "keys=1&key%20=2"]


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        (f"key={KEY}", ""),
        (f"alt=sse&key={KEY}", "alt=sse"),
        (f"key={KEY}&alt=sse", "alt=sse"),
        (f"%24alt=json;enum-encoding=int&key={KEY}&fields=a%2Cb", "%24alt=json;enum-encoding=int&fields=a%2Cb"),
        (f"k%65y={KEY}", ""),
        (f"%6B%65%79={KEY.replace('-', '%2d')}&a=%ff", "a=%ff"),
        (f"a=1&&b=\udcff&key={KEY}&", "a=1&&b=\udcff&"),
        *((other, other) for other in OTHERS),
    ],
)
def test_the_key_is_taken_and_the_rest_keeps_its_bytes(query: str, rest: str) -> None:
    assert take_keys(query) == (rest, [] if rest == query else [KEY.encode()])


def test_the_key_moves_into_the_header() -> None:
    other = (b"accept", b"*/*")
    moved = [other, (b"x-goog-api-key", KEY.encode())]
    assert with_key([other], [KEY.encode()]) == moved
    assert with_key(moved, [KEY.encode()]) == moved
    assert with_key(moved, []) == moved
    assert with_key([other], [b""]) == [other]


@pytest.mark.parametrize(
    "keys", [[KEY, KEY], ["", KEY], [f"{KEY}-another"], [""], ["a b"], [f"{KEY}\r\nx: y"], ["\xe9"]]
)
def test_another_or_an_unusable_key_is_refused(keys: list[str]) -> None:
    with pytest.raises(BadRequest) as refused:
        with_key([(b"X-Goog-Api-Key", KEY.encode())], [key.encode() for key in keys])
    assert refused.value.param == "key"
    assert KEY not in refused.value.message


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("generativelanguage.googleapis.com", True),
        ("Aiplatform.GoogleApis.com", True),
        ("europe-west4-aiplatform.googleapis.com", True),
        ("aiplatform.eu.rep.googleapis.com", True),
        ("storage.eu.rep.googleapis.com", False),
        ("evil-generativelanguage.googleapis.com", False),
        ("generativelanguage.googleapis.com.evil.test", False),
        ("a.b-aiplatform.googleapis.com", False),
        ("storage.googleapis.com", False),
    ],
)
def test_hosts_of_google(host: str, known: bool) -> None:
    assert is_google(host) is known
