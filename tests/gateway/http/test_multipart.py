"""Forms with files: what is read, what is refused, and that what is written reads back."""

from io import BytesIO

import httpx
import pytest

from gateway.errors import GatewayError
from gateway.http.multipart import Part, parse_form, write_form

KIND = "multipart/form-data; boundary=b"
HEAD = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n'


def test_what_a_client_sends_is_read() -> None:
    content = b'{"a": 1}\r\n--b\r\n--\r\n'
    request = httpx.Request(
        "POST", "http://x", data={"purpose": "batch"}, files={"file": ("Zoë.jsonl", BytesIO(content))}
    )
    parts = parse_form(request.read(), request.headers["content-type"])
    assert parts == [Part("purpose", b"batch"), Part("file", content, "Zoë.jsonl")]


@pytest.mark.parametrize(
    ("said", "filename"),
    [
        (b"; filename*=UTF-8''Zo%C3%AB%20K.jsonl", "Zoë K.jsonl"),
        (b"; filename=\"a.jsonl\"; filename*=utf-8'en'b.jsonl", "b.jsonl"),
        (b"; filename*=UTF-8''", ""),
    ],
)
def test_an_encoded_file_name_is_read(said: bytes, filename: str) -> None:
    """RFC 8187."""
    head = HEAD.replace(b'"a"', b'"a"' + said)
    assert parse_form(head + b"1\r\n--b--", KIND) == [Part("a", b"1", filename)]


@pytest.mark.parametrize("value", [b"iso-8859-1'en'%A3", b"a.jsonl", b"UTF-8''a b", b"utf-8'anna@acme.test"])
def test_another_encoded_file_name_is_refused_with_its_reason(value: bytes) -> None:
    with pytest.raises(GatewayError, match=r"`filename\*` .* `filename` instead") as refused:
        parse_form(HEAD.replace(b'"a"', b'"a"; filename*=' + value) + b"1\r\n--b--", KIND)
    assert "anna" not in str(refused.value)


def test_an_encoded_file_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(GatewayError, match="cannot be read"):
        parse_form(HEAD.replace(b'"a"', b"\"a\"; filename*=UTF-8''%FF") + b"1\r\n--b--", KIND)


def test_what_is_written_reads_back() -> None:
    given = [Part("purpose", b"batch"), Part("file", b"\r\n--svc-\r\n", 'a"b.jsonl')]
    content, kind = write_form(given)
    assert parse_form(content, kind.decode()) == [given[0], given[1]._replace(filename="a%22b.jsonl")]
    assert write_form(given) == (content, kind)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (HEAD + b"1\r\n--b--", None),
        (HEAD + b"1\r\n--b--", "multipart/mixed; boundary=b"),
        (HEAD + b"1\r\n--b--", "multipart/form-data"),
        (b"", KIND),
        (b"--b", KIND),
        (HEAD + b"1", KIND),
        (HEAD + b"1\r\n--b", KIND),
        (HEAD + b"1\r\n--b--\r\nmore", KIND),
        (b"before\r\n" + HEAD + b"1\r\n--b--", KIND),
        (HEAD + b"1\r\n" + HEAD + b"2\r\n--b--", KIND),
        (HEAD.replace(b"name", b"nome") + b"1\r\n--b--", KIND),
        (HEAD.replace(b'"a"', b'"\xff"') + b"1\r\n--b--", KIND),
        (HEAD.replace(b"\r\n\r\n", b"\r\n") + b"1\r\n--b--", KIND),
        (
            HEAD.replace(b"Content", b"X: " + b"x" * 5000 + b"\r\nContent") + b"1\r\n--b--",
            KIND,
        ),
        (
            b"".join(HEAD.replace(b'"a"', b'"%d"' % n) + b"1\r\n" for n in range(40)) + b"--b--",
            KIND,
        ),
    ],
)
def test_anything_else_is_refused(content: bytes, kind: str | None) -> None:
    with pytest.raises(GatewayError):
        parse_form(content, kind)
