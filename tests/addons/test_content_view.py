"""The content view shows the sent message with its receipt, and is chosen by itself."""

import json
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest
from mitmproxy import contentviews, http
from mitmproxy.test import taddons, tflow

from addons.content_view import ProtectedView
from addons.flow_copies import Notes, metadata_of

contentviews.add(ProtectedView())


@pytest.fixture(autouse=True)
async def _options() -> AsyncIterator[None]:
    """mitmproxy's views read its options."""
    with taddons.context():
        yield


BODY = json.dumps(
    {
        "model": "m-1",
        "n": 2,
        "stream": False,
        "stop": [],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Write to [PERSON_7KQ2M] at [EMAIL_ADDRESS_X4T9P].\n\n" + "word " * 40},
        ],
        "[PERSON_7KQ2M]": "[CREDIT_CARD_00000]",
    }
).encode()
RECEIPT = {
    "sequence": 17,
    "policy": {"id": "default", "version": 3, "hash": "a1" * 32},
    "route": "protected",
    "risk_level": "high",
    "entity_counts": {"EMAIL_ADDRESS": 1, "PERSON": 2},
    "protected_digest": sha256(BODY).hexdigest(),
}


def flow_of(notes: Notes | None, body: bytes = BODY) -> http.HTTPFlow:
    flow = tflow.tflow(resp=True)
    flow.request.content = body
    flow.request.headers["content-type"] = "application/json"
    if notes is not None:
        notes.put(flow)
    return flow


def noted(**more: object) -> Notes:
    notes = Notes("req_01", json.dumps(RECEIPT), ["[PERSON_7KQ2M]", "[EMAIL_ADDRESS_X4T9P]"])
    for name, value in more.items():
        setattr(notes, name, value)
    return notes


def seen(flow: http.HTTPFlow, *, answer: bool = False) -> str:
    message = flow.response if answer else flow.request
    assert message is not None
    shown = contentviews.prettify_message(message, flow)
    assert shown.view_name == "Protected"
    return shown.text


async def test_the_summary_says_why() -> None:
    notes = noted()
    notes.reasons = [["EMAIL_ADDRESS", "pattern", 1], ["PERSON", "known_value", 1], ["PERSON", "name_model_high", 1]]
    assert (
        "# because   EMAIL_ADDRESS pattern 1, PERSON known_value 1, PERSON\n#           name_model_high 1\n"
    ) in seen(flow_of(notes))


async def test_the_message_reads_as_text_after_a_summary_with_its_placeholders_marked() -> None:
    words = " ".join(["word"] * 13)
    summary, text = (part.splitlines() for part in seen(flow_of(noted())).split("---\n"))
    assert summary == [
        "# SENT: the upstream received this",
        "# request   req_01",
        "# receipt   17 (digest matches)",
        "# policy    default, version 3",
        "# route     protected, risk high",
        "# hidden    3: EMAIL_ADDRESS 1, PERSON 2",
    ]
    assert text == [
        'model: "m-1"',
        "n: 2",
        "stream: false",
        "stop: []",
        "messages:",
        '  - role: "system"',
        '    content: "Be brief."',
        '  - role: "user"',
        "    content: |",
        "      Write to *[PERSON_7KQ2M] at *[EMAIL_ADDRESS_X4T9P].",
        "      ",
        *[f"      {words[:64].rsplit(' ', 1)[0] if len(words) > 64 else words}"] * 3,
        "      word",
        '*[PERSON_7KQ2M]: "?[CREDIT_CARD_00000]"',
    ]


TITLES = {
    "held": ({}, True, "# HELD BACK: nothing was sent yet"),
    "refused": ({"refusal": "edit_refused"}, False, "# REFUSED: nothing was sent"),
    "an edit with a name in it": (
        {"refusal": "edit_refused", "reason": "Remove it.", "found": ["PERSON at /a"]},
        False,
        "# REFUSED: nothing was sent",
    ),
    "answered here": ({"metadata_only": True}, False, "# METADATA ONLY: answered here"),
    "refused here": (
        {"metadata_only": True, "refusal": "unauthorized"},
        False,
        "# METADATA ONLY: refused, nothing was sent",
    ),
}


@pytest.mark.parametrize("name", TITLES)
async def test_the_title_says_what_it_is(name: str) -> None:
    more, held, title = TITLES[name]
    flow = flow_of(noted(**more))  # type: ignore[arg-type]
    if held:
        flow.intercept()
    assert seen(flow).startswith(title + "\n")
    assert ("# reason    Remove it.\n# found     PERSON at /a\n" in seen(flow)) == (name == "an edit with a name in it")


async def test_the_answer() -> None:
    guard = {"action": "redact", "findings": [{"kind": "forged_placeholder", "severity": "medium", "count": 2}]}
    flow = flow_of(noted(guard=guard))
    assert flow.response is not None
    flow.response.content = b'{"choices": [{"message": {"content": "Ask [PERSON_7KQ2M] or [PERSON_00000]."}}]}'
    text = seen(flow, answer=True)
    assert text.startswith("# RECEIVED: the upstream answered this\n")
    assert "# guard     redact: forged_placeholder (medium) 2\n" in text
    assert "Ask *[PERSON_7KQ2M] or ?[PERSON_00000]." in text
    assert "digest" not in text


async def test_a_streamed_answer_reads_as_one_text() -> None:
    flow = flow_of(noted(wire="chat-completions"))
    assert flow.response is not None
    pieces = ["Ask [PER", "SON_7K", "Q2M]."]
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    flow.response.content = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    text = seen(flow, answer=True)
    assert "# stream    3 events, whose texts are joined here\n---\n" in text
    assert text.count('content: "Ask *[PERSON_7KQ2M]."') == 1


async def test_an_answer_that_did_not_stream_is_shown_as_it_is() -> None:
    flow = flow_of(noted(wire="chat-completions"))
    assert flow.response is not None
    flow.response.content = b'{"choices": [{"message": {"content": "Hi."}}]}'
    text = seen(flow, answer=True)
    assert "# stream" not in text
    assert 'content: "Hi."' in text


async def test_other_bytes_than_the_receipts_are_an_edit_or_named_as_such() -> None:
    assert "# receipt   17 (DIGEST DIFFERS" in seen(flow_of(noted(), b"{}"))
    text = seen(flow_of(noted(edit="req_02"), b"{}"))
    assert "# edited    by an operator; its own receipt is req_02\n" in text
    assert "DIGEST DIFFERS" not in text
    assert seen(flow_of(noted(metadata_only=True), b"")).endswith("# hidden    3: EMAIL_ADDRESS 1, PERSON 2\n")


@pytest.mark.parametrize("body", [b"not JSON: [PERSON_7KQ2M]", b"\xff\xfe [PERSON_7KQ2M]", b'{"a": 1, "a": 2}', b"["])
async def test_other_bodies_than_json_are_shown_as_they_are(body: bytes) -> None:
    text = seen(flow_of(noted(), body))
    assert body.decode("utf-8", "replace").replace("[PERSON", "*[PERSON") in text


async def test_flows_of_others_are_left_to_other_views() -> None:
    flow = flow_of(None)
    assert contentviews.prettify_message(flow.request, flow).view_name == "JSON"


async def test_notes_go_through_a_dump() -> None:
    loaded = http.HTTPFlow.from_state(flow_of(noted(guard={"action": "pass", "findings": []})).get_state())
    assert isinstance(loaded, http.HTTPFlow)
    assert seen(loaded) == seen(flow_of(noted(guard={"action": "pass", "findings": []})))


@pytest.mark.parametrize("kept", [None, "x", 7, {}, {"a_later_version": True}])
async def test_notes_that_are_missing_or_foreign(kept: object) -> None:
    flow = flow_of(None)
    flow.metadata["privacy_gateway"] = kept
    notes = metadata_of(flow)
    assert notes is None or notes == Notes()
