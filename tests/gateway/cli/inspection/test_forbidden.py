"""Forbidden values are found wherever they were sent, and named by their line alone."""

import io
import json
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.cli.console import Misused
from gateway.cli.inspection.forbidden import Forbidden, read_forbidden
from gateway.cli.inspection.records import Tunnel
from tests.gateway.cli.inspection.support import CARD, chat, sent

VALUE = "anna.keller@clients.example"
FORBIDDEN = Forbidden({1: CARD, 3: VALUE, 4: "4711", 5: "DE89 3704 0044 0532 0130 00", 6: "?!#§"})
SPLIT = {
    "model": "m",
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "anna.keller@cli"}, {"type": "text", "text": "ents.example"}],
        }
    ],
}
# A request, and the lines that are found in it, each with its place and spelling.
FOUND: dict[str, tuple[dict[str, Any], list[tuple[int, str, str]]]] = {
    "as it is": ({"body": chat("Hi", f"Mail {VALUE}.")}, [(3, "body /messages/1/content", "as it is")]),
    "in capitals": ({"body": chat(VALUE.upper())}, [(3, "body /messages/0/content", "in another spelling")]),
    "with separators": (
        {"body": chat("4539-5787 6362.1486")},
        [(1, "body /messages/0/content", "in another spelling")],
    ),
    "without them": (
        {"body": chat("DE89370400440532013000")},
        [(5, "body /messages/0/content", "in another spelling")],
    ),
    "as a number": ({"body": chat("Hi", user=int(CARD))}, [(1, "body /user", "as it is")]),
    "in base64": (
        {"body": chat(b64encode(f"<{VALUE}>".encode()).decode())},
        [(3, "body /messages/0/content", "in base64")],
    ),
    "escaped": (
        {"body": json.dumps(chat(VALUE)).replace("@", "\\u0040").encode()},
        [(3, "body /messages/0/content", "as it is")],
    ),
    "divided": ({"body": SPLIT}, [(3, "body /messages/*/content/*/text", "divided between texts")]),
    "in a name": (
        {"body": chat("Hi", metadata={VALUE: "x"})},
        [(3, "body /metadata (the name of a member)", "as it is")],
    ),
    "below a name": (
        {"body": chat("Hi", metadata={VALUE: CARD})},
        [(1, "body /metadata/(not shown)", "as it is"), (3, "body /metadata (the name of a member)", "as it is")],
    ),
    "no JSON": ({"body": f"a={VALUE}".encode()}, [(3, "body", "as it is")]),
    "in the path": ({"path": f"/v1/{VALUE}"}, [(3, "path", "as it is")]),
    "in the query": ({"path": "/v1?q=anna.keller%40clients.example"}, [(3, "query", "in percent-encoding")]),
    "in a header": ({"headers": [["x-app", VALUE]]}, [(3, "header x-app", "as it is")]),
    "in a credential": (
        {"credentials": [["authorization", f"Bearer {CARD}"]]},
        [(1, "header authorization", "as it is")],
    ),
    "in the name of a header": ({"headers": [[f"x-{CARD}", "1"]]}, [(1, "the name of a header", "as it is")]),
    "in the host": ({"host": f"{CARD}.example"}, [(1, "host", "as it is")]),
    "signs only": ({"body": chat("(?!#§)")}, [(6, "body /messages/0/content", "as it is")]),
    "a short word": ({"body": chat("PIN 4711!")}, [(4, "body /messages/0/content", "as it is")]),
    "within a word": ({"body": chat("id a4711, 47110")}, []),
    "nothing": ({"body": chat("Hi"), "path": "/v1"}, []),
    "an empty body": ({}, []),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_value_is_found(name: str) -> None:
    request, hits = FOUND[name]
    found = FORBIDDEN.in_request(sent(**request))
    assert [(hit.line, hit.place, hit.how) for hit in found] == hits
    assert not any(value in repr(found) for value in (CARD, VALUE))


def test_divided_texts_are_not_shown_either() -> None:
    forbidden = Forbidden({1: VALUE})
    assert forbidden.in_text("ents.example") == ()
    forbidden.in_request(sent(SPLIT))
    assert forbidden.in_text("ents.example") == ((1, "divided between texts"),)


def test_a_host_of_a_tunnel_may_hold_a_value() -> None:
    assert [hit.line for hit in FORBIDDEN.in_tunnel(Tunnel(f"{CARD}.evil.example", 443, 1, 1))] == [1]
    assert FORBIDDEN.in_tunnel(Tunnel("github.com", 443, 1, 1)) == []


def test_what_decodes_to_too_much_is_not_taken_for_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.cli.inspection.spellings._SPARE", 0)
    monkeypatch.setattr("gateway.cli.inspection.spellings._EXPANSION", 0)
    (hit,) = Forbidden({1: "abcd"}).in_request(sent(chat("a%20long%20text"), path=""))
    assert (hit.line, hit.how) == (0, "decodes to too much to be searched")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "has no value"),
        (b" \n\n", "has no value"),
        (b"abcd\nabc\n", "line 2 has less than 4 characters"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"a" * 1_048_577, "is larger than 1 MiB"),
        (b"abcd\n" * 10_001, "has more than 10,000 values"),
    ],
)
def test_a_useless_file_is_refused_without_its_values(content: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(Misused, match=why) as refused:
        read_forbidden(tmp_path / "f")
    assert "abc" not in refused.value.message


def test_values_are_read_one_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbf# no comment\r\n\r\n  padded value  \r\n")
    read = read_forbidden(tmp_path / "f")
    assert [read.in_text(text) for text in ("# NO comment", "a padded value")] == [
        ((1, "in another spelling"),),
        ((3, "as it is"),),
    ]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CARD.encode())))
    assert read_forbidden(Path("-")).in_text(CARD) == ((1, "as it is"),)
    with pytest.raises(FileNotFoundError):
        read_forbidden(tmp_path / "none")
    assert not read_forbidden(None)
    assert read_forbidden(None).in_request(sent(chat(CARD))) == []
