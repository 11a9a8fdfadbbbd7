"""Events of WebSockets: the response that they belong to, their lane, and errors as events."""

import json
from typing import Any

import pytest
from mitmproxy import http

from addons.patches.websocket_messages import Responses, error_event, error_of, explained, in_lane, lane_of, parsed
from addons.patches.websocket_peer import POLICY, TOO_BIG, UNSUPPORTED

CREATED = {"type": "response.created", "response": {"id": "resp_1"}}


@pytest.mark.parametrize(
    ("event", "fits"),
    [
        ({"type": "response.output_text.delta"}, True),
        ({"type": "response.output_text.delta", "response_id": "resp_1"}, True),
        ({"type": "response.output_text.delta", "response_id": "resp_2"}, False),
        ({"type": "response.output_text.delta", "response_id": ["resp_1"]}, False),
        ({"type": "response.created", "response": {"id": "resp_2"}}, False),
        # Some upstreams encrypt the name anew in every event.
        ({"type": "response.completed", "response": {"id": "resp_2"}}, True),
        ({"type": "response.created", "response": "resp_1"}, True),
    ],
)
def test_events_of_a_response(event: dict[str, Any], fits: bool) -> None:
    responses = Responses()
    assert responses.add(CREATED)
    assert responses.add(event) is fits
    assert Responses().add(event)


def test_a_response_has_the_events_that_name_it() -> None:
    responses = Responses()
    responses.add(CREATED)
    assert responses.has({"response_id": "resp_1"})
    assert not responses.has({"response_id": "resp_2"})
    assert not responses.has({})
    assert not Responses().has(CREATED)


def test_lanes_and_errors() -> None:
    assert (lane_of(b'{"stream_id": "a"}'), lane_of(b"{}"), lane_of(b'"stream_id"')) == ("a", None, None)
    assert json.loads(in_lane(b'{"type": "x"}', "a")) == {"type": "x", "stream_id": "a"}
    assert in_lane(b"{}", None) == b"{}"
    assert (parsed(b"[]"), parsed(b"{"), parsed(b"{}")) == (None, None, {})
    response = http.Response.make(400, b'{"error": {"code": "x"}}')
    assert error_of(response) == {"type": "error", "status": 400, "error": {"code": "x"}}
    for code, said in ((UNSUPPORTED, "text messages"), (TOO_BIG, "9"), (POLICY, "frames")):
        event = json.loads(error_event(explained(code, 9)))
        assert event["type"] == "error"
        assert said in event["error"]["message"]
