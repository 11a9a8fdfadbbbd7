"""Documents in base64 are read from the parts of requests; anything else is an attachment as before."""

import pytest

from gateway.wires.attached_files import document, part_of_gemini, part_of_openai, source_of_bedrock, split


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("data:application/pdf;base64,QUJD", ("application/pdf", "QUJD")),
        ("data:text/plain;charset=utf-8;base64,QUJD", ("text/plain;charset=utf-8", "QUJD")),
        ("data:image/png;base64,QUJD", None),
        ("data:text/plain,a", None),
        ("data:text/plain;a@b.example;base64,QUJD", None),
        ("data:text/plain;base64,a@b.example", None),
        ("https://a.example/b.pdf", None),
    ],
)
def test_data_uris(value: str, found: tuple[str, str] | None) -> None:
    assert split(value) == found


@pytest.mark.parametrize("given", [("audio/wav", "QUJD"), ("text/plain", ""), ("text/plain", "to anna")])
def test_what_is_no_document(given: tuple[str, str]) -> None:
    assert document(*given) is None


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file": {"file_id": "a"}},
        {"type": "file", "file": {"file_id": "a", "file_data": "data:text/plain;base64,QUJD"}},
        {"type": "input_file", "file_url": "https://a.example"},
        {"type": "document_url", "document_url": "https://a.example"},
        {"type": "document_url", "document_url": "QUJD"},
        {"type": "file", "file": "QUJD"},
        {"type": "file", "file": {"file_data": "QUJD"}},
    ],
)
def test_parts_without_a_document(part: dict[str, object]) -> None:
    assert part_of_openai([part], 0, part, "text", list) is None


def test_a_part_with_more_than_a_document_is_no_document() -> None:
    inline = {"mimeType": "application/pdf", "data": "QUJD"}
    assert part_of_gemini([], 0, {"inlineData": inline}, list) is not None
    assert part_of_gemini([], 0, {"inlineData": inline, "videoMetadata": {}}, list) is None
    assert part_of_gemini([], 0, {"inlineData": {"data": "QUJD"}}, list) is None
    assert source_of_bedrock({"source": {"bytes": "QUJD", "s3Location": {}}}, list) is None


def test_the_marker_of_a_cache_stays() -> None:
    part = {
        "type": "file",
        "file": {"file_data": "data:text/plain;base64,QUJD"},
        "cache_control": {"type": "ephemeral"},
    }
    parts = [part]
    found = part_of_openai(parts, 0, part, "text", list)
    assert found is not None
    found.convert("a")
    assert parts == [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
