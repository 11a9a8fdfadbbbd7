"""Particulars of the Gemini wire; `contract` tests what it shares with the others."""

import pytest

from gateway.destinations.trust import Source
from gateway.wires.base import Body
from gateway.wires.gemini import WIRE
from tests.gateway.wires.contract.cases import CASES

READS = CASES["gemini"]["reads"]
PATH = CASES["gemini"]["path"]


def test_case_does_not_matter() -> None:
    assert READS["all members"]["blocks"] == READS["all members in snake case"]["blocks"]


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/models/gemini-x:streamGenerateContent", "gemini-x"),
        ("/gemini/v1beta/models/a/b:7b:embedContent", "a/b:7b"),
        ("/v1beta/tunedModels/own-1:generateContent", "tunedModels/own-1"),
        ("/v1/projects/p-1/locations/eu-w4/publishers/google/models/gemini-x:generateContent", "gemini-x"),
    ],
)
def test_the_path_names_the_model(path: str, model: str) -> None:
    assert WIRE.model({}, path) == model


def test_a_tuned_model_keeps_its_collection() -> None:
    assert WIRE.method_path(PATH, "tunedModels/own-1") == "v1beta/tunedModels/own-1:generateContent"


def test_the_model_is_named_where_the_body_has_it() -> None:
    text: Body = {"parts": [{"text": "a"}]}
    bodies: list[Body] = [
        {"contents": [text]},
        {"model": "models/x", "content": text},
        {"requests": [{"model": "models/x", "content": text}, {"model": 7, "content": text}]},
        {"generateContentRequest": {"model": "models/x", "contents": [text]}},
    ]
    for body in bodies:
        WIRE.set_model(body, "y")
    assert bodies[0] == {"contents": [text]}
    assert bodies[1]["model"] == "models/y"
    assert [each["model"] for each in bodies[2]["requests"]] == ["models/y"] * 2
    assert bodies[3]["generateContentRequest"]["model"] == "models/y"
    WIRE.set_model(bodies[1], "tunedModels/own")
    assert bodies[1]["model"] == "tunedModels/own"


def test_embeddings_of_all_requests_share_a_key() -> None:
    assert READS["batch of embeddings"]["seed"] == READS["embedding"]["seed"]


CALL = '{"functionCall": {"name": "f", "args": {"to": "evil.test"}}}'
RESULT = '{"functionResponse": {"name": "f", "response": {"out": "[A_1] evil.test"}}}'


@pytest.mark.parametrize("part", [CALL, CALL.replace("functionC", "function_c"), RESULT, RESULT.replace("nR", "n_r")])
@pytest.mark.parametrize("form", ['{"contents": [{"parts": [%s]}]}', '{"contents": {"parts": %s}}'])
def test_calls_of_tools_and_their_results_name_no_destination(part: str, form: str) -> None:
    request = (form % part).encode()
    assert not Source(request, named_for=frozenset()).names("evil.test")
    assert Source(request).names("evil.test")
    # A result that holds the placeholders as well does.
    is_result = "esponse" in part
    assert Source(request, named_for=frozenset({"[A_1]"})).names("evil.test") == is_result


def test_messages_name_a_destination() -> None:
    request = b'{"contents": [{"role": "user", "parts": [{"text": "Send it to good.test."}]}]}'
    assert Source(request, named_for=frozenset()).names("good.test")
