"""The Responses API over WebSockets on both listeners: what is sent, what the client gets, and what is recorded."""

import json
from collections.abc import Iterable
from hashlib import sha256
from itertools import zip_longest
from random import Random
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.connection import Connection

from tests.e2e.mitmweb import everything, flow_with, operator, wait_for
from tests.e2e.socket_upstream import (
    Answer,
    Socket,
    SocketEntrance,
    answered,
    ask,
    create,
    events,
    last_text,
    text_of,
)

MAIL, CARD = "canary.anna@acme.test", "4111 1111 1111 1111"
SAID = f"Write to {MAIL} of card {CARD} today."


def closed(client: Connection) -> int:
    """The code with which the gateway closes a connection, whatever it says before."""
    with pytest.raises(ConnectionClosed) as ended:
        while True:
            client.recv(20)
    return ended.value.rcvd.code if ended.value.rcvd else 0


def outcome(entrance: SocketEntrance, request_id: str) -> dict[str, Any]:
    with entrance.running.client() as client:
        path = f"/v1/receipts/{request_id}"
        found = wait_for(lambda: client.get(path).json().get("outcome"))
        assert client.get(f"{path}/verify").json()["valid"]
    return dict(found)


def lines(entrance: SocketEntrance, client: Connection, count: int = 1, *, of_the_end: bool = False) -> list[str]:
    """The lines of the log about the messages of a connection, or about its end, once there are so many."""
    assert client.response is not None
    mark = f' connection="{client.response.headers["x-svc-request-id"]}"'

    def found() -> list[str] | None:
        every = entrance.running.output().splitlines()
        all_of_it = [line for line in every if mark in line and ("outcome=websocket" in line) is of_the_end]
        return all_of_it if len(all_of_it) >= count else None

    return wait_for(found)


def id_in(line: str) -> str:
    return line.partition('request_id="')[2].partition('"')[0]


def test_a_message_is_protected_and_its_answer_restored(socket: SocketEntrance) -> None:
    with socket.connect() as client:
        assert text_of(ask(client, SAID)) == SAID
    (message,) = socket.upstream.sockets[0].messages
    assert "canary" not in socket.upstream.seen
    assert "4111" not in message
    (line,) = lines(socket, client)
    assert "entities.CREDIT_CARD=1" in line
    assert "canary" not in socket.running.output()
    assert outcome(socket, id_in(line))["outcome"] == "answered"
    with socket.running.client() as client_of_records:
        receipt = client_of_records.get(f"/v1/receipts/{id_in(line)}").json()
    assert receipt["protected_digest"] == sha256(message.encode()).hexdigest()


def test_operators_see_what_was_sent(socket: SocketEntrance) -> None:
    with socket.connect() as client:
        ask(client, SAID)
    (line,) = lines(socket, client)
    with operator(socket.running) as web:
        flow = flow_with(web, id_in(line))
        shown = web.get(f"/flows/{flow['id']}/request/content.data").content
        got = web.get(f"/flows/{flow['id']}/response/content/Protected.json").text
        assert b"canary" not in everything(web, only=flow["id"])
        assert "inject" not in web.get("/commands").text
        inject = web.post(f"/flows/{flow['id']}/client/messages.data", content="{}")
    assert shown.decode() == socket.upstream.sockets[0].messages[0]
    assert "EMAIL_ADDRESS" in got
    assert inject.status_code >= 400


def continue_with(turns: list[str]) -> Answer:
    """Says what the model of each turn says, with the placeholders of the first request."""

    def answer(socket: Socket, message: str) -> Iterable[str]:
        first = next(text for text in map(last_text, socket.bodies) if "[EMAIL" in text)
        start = first.index("[EMAIL")
        known = first[start : first.index("]", start) + 1]
        number = len(socket.messages)
        return events(turns[number - 1].replace("MAIL", known), number)

    return answer


def test_a_conversation_of_which_only_new_items_are_sent(socket: SocketEntrance) -> None:
    """As codex does: a warm-up, then turns that name the answer before, and never what the model said."""
    turns = ["", "Asking MAIL", "Found MAIL twice", "It was MAIL, as ever"]
    said = continue_with(turns)

    def answer(upstream: Socket, message: str) -> Iterable[str | bytes]:
        if len(upstream.messages) == 1:
            return events("", 1)
        return said(upstream, message)

    socket.upstream.answer = answer
    with socket.connect() as client:
        instruction = {"type": "message", "role": "developer", "content": "Be brief."}
        client.send(json.dumps(create("", input=[instruction], generate=False)))
        answered(client)
        got = [ask(client, f"Who is {MAIL}?", previous_response_id="resp_1")]
        output = {"type": "function_call_output", "call_id": "c", "output": f"found {MAIL} and canary.bob@acme.test"}
        client.send(json.dumps(create("", input=[output], previous_response_id="resp_2")))
        got.append(answered(client))
        got.append(ask(client, "And again?", previous_response_id="resp_3"))
    assert [text_of(each) for each in got] == [turn.replace("MAIL", MAIL) for turn in turns[1:]]
    bodies = socket.upstream.sockets[0].bodies
    assert [body.get("previous_response_id") for body in bodies] == [None, "resp_1", "resp_2", "resp_3"]
    assert bodies[0]["generate"] is False
    assert "canary" not in socket.upstream.seen
    known = last_text(bodies[1]).split("?")[0].split()[-1]
    assert known in last_text(bodies[2])


def test_the_same_conversation_has_the_same_placeholders_over_http(socket: SocketEntrance) -> None:
    """A client that falls back to HTTP repeats all of it, and finds its cache at the provider."""
    turns = ["", "Yes"]
    socket.upstream.answer = lambda upstream, _: events(turns[len(upstream.messages) - 1], len(upstream.messages))
    instruction = {"type": "message", "role": "developer", "content": "Be brief."}
    with socket.connect() as client:
        client.send(json.dumps(create("", input=[instruction], generate=False)))
        answered(client)
        ask(client, SAID, previous_response_id="resp_1")
    with socket.connect() as client:
        said = create(SAID)
        client.send(json.dumps(said | {"input": [instruction, *said["input"]]}))
        answered(client)
    first, second = (each.bodies for each in socket.upstream.sockets)
    assert [*first[0]["input"], *first[1]["input"]] == second[0]["input"]


def test_no_connection_knows_another(socket: SocketEntrance) -> None:
    socket.upstream.answer = lambda upstream, _: events("See [EMAIL_ADDRESS_AAAAA].", 1)
    with socket.connect() as one, socket.connect() as other:
        ask(one, SAID)
        known = last_text(socket.upstream.sockets[0].bodies[0]).split()[2]
        socket.upstream.answer = lambda upstream, _: events(f"See {known}.", 2)
        assert text_of(ask(other, "Who?", previous_response_id="resp_1")) == f"See {known}."
        assert text_of(ask(one, "Who?", previous_response_id="resp_1")) == f"See {MAIL}."


def test_lanes_take_turns(socket: SocketEntrance) -> None:
    """Two answers whose events alternate, each with a stream of its own."""
    waiting: list[tuple[str, list[str]]] = []

    def answer(_: Socket, message: str) -> Iterable[str]:
        body = json.loads(message)
        waiting.append((body["stream_id"], events(last_text(body), len(waiting) + 1, stream_id=body["stream_id"])))
        if len(waiting) < 2:
            return ()
        return [event for pair in zip_longest(*(each for _, each in waiting)) for event in pair if event]

    socket.upstream.answer = answer
    texts = {"a": SAID, "b": "Call canary.bob@acme.test or canary.eve@acme.test instead"}
    with socket.connect() as client:
        for lane, text in texts.items():
            client.send(json.dumps(create(text, stream_id=lane)))
        got: dict[str, list[Any]] = {"a": [], "b": []}
        while not all(each and each[-1]["type"] == "response.completed" for each in got.values()):
            event = json.loads(client.recv(20))
            got[event["stream_id"]].append(event)
    assert {lane: text_of(each) for lane, each in got.items()} == texts
    assert "canary" not in socket.upstream.seen


def test_a_refused_request_leaves_the_connection_open(socket: SocketEntrance) -> None:
    with socket.connect() as client:
        (refused,) = ask(client, SAID, svc_policy="no-such-policy")
        assert (refused["type"], refused["status"], refused["error"]["code"]) == ("error", 404, "policy_not_found")
        client.send("{ not json")
        (unreadable,) = answered(client)
        assert unreadable["status"] == 400
        (lane,) = ask(client, SAID, stream_id="a", model=7)
        assert lane["stream_id"] == "a"
        assert text_of(ask(client, SAID)) == SAID
    assert len(socket.upstream.sockets[0].messages) == 1
    assert len(lines(socket, client, 4)) == 4


def test_the_guard_withholds_an_answer(socket: SocketEntrance) -> None:
    """The events after the one in which it found a reason are dropped, and the next answer passes."""
    with socket.running.client() as client:
        document = {"id": "strict-guard", "title": "g", "description": "g", "extends": "default"}
        answer = client.post(
            "/v1/policies",
            json=document | {"guard": {"unknown_placeholder": "replace", "forged_placeholder": "replace"}},
        )
        assert answer.status_code in {201, 409}
    texts = ["See [EMAIL_ADDRESS_7KQ2M] now. And more of it.", "Fine."]
    socket.upstream.answer = lambda upstream, message: events(
        texts[len(upstream.messages) - 1],
        len(upstream.messages),
        **{name: value for name, value in json.loads(message).items() if name == "stream_id"},
    )
    with socket.connect() as client_:
        got = ask(client_, SAID, svc_policy="strict-guard", stream_id="a")
        assert (got[-1]["type"], {each.get("stream_id") for each in got[1:]}) == ("response.incomplete", {"a"})
        assert "7KQ2M" not in json.dumps(got)
        assert text_of(ask(client_, SAID, svc_policy="strict-guard")) == "Fine."


def test_a_policy_whose_guard_needs_the_whole_answer(socket: SocketEntrance) -> None:
    with socket.running.client() as client:
        document = {"id": "held-sockets", "title": "h", "description": "h", "extends": "default"}
        answer = client.post("/v1/policies", json=document | {"streaming": {"guard": "hold"}})
        assert answer.status_code in {201, 409}
    with socket.connect() as client_:
        for _ in range(2):
            assert text_of(ask(client_, SAID, svc_policy="held-sockets")) == SAID


@pytest.mark.parametrize("reply", ["[]", "{ half", "7", b"\x00"])
def test_an_upstream_that_breaks_the_protocol(socket: SocketEntrance, reply: str | bytes) -> None:
    socket.upstream.answer = lambda *_: (reply,)
    with socket.connect() as client:
        client.send(json.dumps(create(SAID)))
        assert closed(client) == 1011
    wait_for(lambda: socket.upstream.sockets[0].close_code)


def test_unasked_messages_of_an_upstream(socket: SocketEntrance) -> None:
    """An error is about the connection; all others belong to no answer, and are dropped."""
    error = json.dumps({"type": "error", "status": 400, "error": {"code": "websocket_connection_limit_reached"}})
    limits = json.dumps({"type": "codex.rate_limits", "plan_type": "plus"})
    odd = json.dumps({"type": "response.strange", "text": f"for {{}} {MAIL}"})
    socket.upstream.answer = lambda upstream, message: [limits, *events(last_text(json.loads(message))), odd, error]
    with socket.connect() as client:
        got = ask(client, SAID)
        assert (got[0]["type"], text_of(got)) == ("codex.rate_limits", SAID)
        assert json.loads(client.recv(20))["error"]["code"] == "websocket_connection_limit_reached"


@pytest.mark.parametrize("size", [1, 7, 100, 100_000])
def test_fragments_and_cuts_change_nothing(socket: SocketEntrance, size: int) -> None:
    message = json.dumps(create(SAID))
    with socket.connect() as client:
        client.send([message[at : at + size] for at in range(0, len(message), size)])
        got = answered(client)
        assert text_of(got) == SAID
        client.ping("canary.ping@acme.test").wait(10)
        whole = ask(client, SAID)
    assert [e["type"] for e in whole] == [e["type"] for e in got]
    first, second = (json.loads(each) for each in socket.upstream.sockets[0].messages)
    assert first == second
    assert "canary" not in socket.upstream.seen


def test_answers_cut_at_random_places(socket: SocketEntrance) -> None:
    """The events of an answer, each sent as fragments cut anywhere, and texts cut anywhere."""
    random = Random(47)

    def answer(upstream: Socket, message: str) -> Iterable[str]:
        made = events(last_text(json.loads(message)), len(upstream.messages), random.randint(1, 40))
        for event in made:
            cuts = sorted(random.sample(range(1, len(event)), min(3, len(event) - 1)))
            upstream.connection.send(event[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True))
        return ()

    socket.upstream.answer = answer
    with socket.connect() as client:
        for _ in range(40):
            assert text_of(ask(client, SAID)) == SAID


@pytest.mark.parametrize("code", [1000, 1001, 1011, 4000])
def test_close_codes_are_passed_on_without_reasons(socket: SocketEntrance, code: int) -> None:
    with socket.connect() as client:
        ask(client, "Hello")
        client.close(code, "canary left")
    assert wait_for(lambda: socket.upstream.sockets[0].close_code) == code
    (line,) = lines(socket, client, of_the_end=True)
    assert f"messages.received=1 messages.sent=9 closed.client={code} closed.upstream={code} ms.open=" in line
    with socket.connect() as client:
        ask(client, "Hello")
        socket.upstream.sockets[1].connection.close(code, "the [EMAIL_ADDRESS_AAAAA] is down")
        assert closed(client) == code


def test_a_client_that_leaves_ends_the_connection_to_the_upstream(socket: SocketEntrance) -> None:
    socket.upstream.answer = lambda *_: events(SAID)[:3]
    with socket.connect() as client:
        client.send(json.dumps(create(SAID)))
        client.recv(20)
        client.close_socket()
    assert wait_for(lambda: socket.upstream.sockets[0].close_code) == 1001
    (line,) = lines(socket, client)
    assert outcome(socket, id_in(line))["outcome"] == "cancelled"


def test_an_upstream_that_leaves(socket: SocketEntrance) -> None:

    def leave(upstream: Socket, _: str) -> Iterable[str]:
        yield from events(SAID)[:3]
        upstream.connection.close_socket()

    socket.upstream.answer = leave
    with socket.connect() as client:
        client.send(json.dumps(create(SAID)))
        assert closed(client) == 1011
    (line,) = lines(socket, client)
    assert outcome(socket, id_in(line))["outcome"] == "upstream_error"


def status(socket: SocketEntrance, path: str = "/v1/responses", **headers: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        socket.connect(path, **headers)
    return refused.value.response.status_code


def test_the_head_of_a_handshake_is_checked_as_that_of_a_request(socket: SocketEntrance) -> None:
    assert status(socket, "/v1/realtime") == 426
    assert status(socket, "/v1/responses/compact") == 426
    assert status(socket, f"/v1/responses?to={MAIL}") == 400
    if socket.name == "gateway":
        assert status(socket, Authorization="Bearer svck_wrong") == 401
    assert not socket.upstream.sockets
    more = {"x-title": f"for {MAIL}", "origin": "https://canary.example", "x-canary": "1"}
    with socket.connect(**more, **{"Sec-WebSocket-Protocol": "canary"}) as client:
        ask(client, "Hello")
    head = socket.upstream.sockets[0].head
    assert "canary" not in socket.upstream.seen
    assert head.headers["openai-beta"] == "responses_websockets=2026-02-06"
    assert "Sec-WebSocket-Extensions" not in head.headers
    wanted = "upstream-key-of-the-tests" if socket.name == "gateway" else "key-of-the-provider"
    assert head.headers["Authorization"] == f"Bearer {wanted}"


def test_another_upstream_serves_the_model(socket: SocketEntrance) -> None:
    if socket.name == "proxy":
        pytest.skip("the client has chosen the host")
    with socket.connect() as client:
        (refused,) = ask(client, SAID, model="svc-demo")
        assert (refused["status"], refused["error"]["param"]) == (400, "model")
        assert text_of(ask(client, SAID)) == SAID
