"""Where the protocol has a word, anything else is as good as an unknown word, and no message repeats a name."""

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.wires import Wires
from gateway.wires.anthropic_events import MessageEvents

WIRES = Wires.discover()
NO_WORDS: list[Any] = [[], {}, ["text"], 1, None, True]


def bodies(odd: Any) -> dict[str, dict[str, Any]]:
    block = {"type": odd, "text": "a", "data": "b", "signature": "c", "source": {"type": odd, "content": "a"}}
    return {
        "/v1/messages": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [block]}]},
        "/v1/responses": {"model": "m", "input": [{"type": odd, "encrypted_content": "a" * 40, "content": "a"}]},
        "/v1/chat/completions": {"model": "m", "messages": [{"role": "user", "content": [block]}]},
        "/v1/embeddings": {"model": "m", "input": "a", "encoding_format": odd},
        "/v1/moderations": {"model": "m", "input": [block]},
    }


@pytest.mark.parametrize("path", bodies(None))
@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_a_type_that_is_no_word_is_an_unknown_type(path: str, odd: Any) -> None:
    wire = WIRES.serving("POST", path)
    assert wire is not None
    try:
        conversation = wire.read(bodies(odd)[path], path)
    except BadRequest as error:
        assert error.code in {"invalid_request", "validation_error"}
    else:
        assert "a" in conversation.texts() or path == "/v1/responses"


@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_an_event_of_no_known_type_ends_nothing(odd: Any) -> None:
    events = MessageEvents()
    assert not events.ends({"type": odd}, (0, "text"))
    assert events.refusal("Withheld.", {"type": odd})


@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_an_odd_reason_does_not_break_an_answer(odd: Any) -> None:
    wire = WIRES.serving("POST", "/v1beta/models/gemini-x:streamGenerateContent")
    assert wire is not None
    assert wire.stream is not None
    assert wire.stream.is_last({"candidates": [{"finishReason": odd}]}) in {True, False}


def test_the_name_of_a_member_with_token_numbers_is_not_repeated() -> None:
    for path in ("/v1/completions", "/v1/embeddings", "/v1/moderations"):
        wire = WIRES.serving("POST", path)
        assert wire is not None
        with pytest.raises(BadRequest) as refused:
            wire.read({"model": "m", "prompt": "a", "input": "a", "anna@acme.test": [1]}, path)
        assert "anna" not in f"{refused.value.message} {refused.value.param}"


GRAMMAR = {"syntax": "lark", "definition": "start: word"}
MEMBERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "/v1/chat/completions": (
        {"messages": [{"role": "user", "content": "a"}], "audio": {"format": "wav", "voice": "ash"}},
        {"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": GRAMMAR}}},
    ),
    "/v1/responses": ({"input": "a"}, {"type": "custom", "name": "sql", "format": {"type": "grammar", **GRAMMAR}}),
}


@pytest.mark.parametrize("path", MEMBERS)
def test_words_that_the_protocol_allows_in_a_member_are_not_text_there(path: str) -> None:
    wire = WIRES.serving("POST", path)
    assert wire is not None
    members, tool = MEMBERS[path]
    own = {"voice": "ash", "syntax": "lark"}
    read = wire.read({"model": "m", **members, "tools": [tool]}, path).texts()
    assert {"start: word"} <= set(read)
    assert not {"ash", "lark"} & set(read)
    # Where the keys are the caller's, so are the words.
    read = wire.read({"model": "m", **members, "tools": [tool], "metadata": own}, path).texts()
    assert {"ash", "lark"} <= {text.rpartition(": ")[2] for text in read}
    unknown = {"type": "custom", "name": "sql", "format": {"syntax": "Anna Schmidt"}}
    assert "Anna Schmidt" in wire.read({"model": "m", **members, "tools": [unknown]}, path).texts()
