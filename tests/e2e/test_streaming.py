"""Streamed chat completions through both entrances, and every way in which a stream may end."""

import gzip
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.entrances import Entrance, har
from tests.e2e.mitmweb import everything, flow_with, operator, wait_for
from tests.e2e.raw import answer_to
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream
from tests.gateway.exchange.streaming.support import DONE, Body, bodies, chunk, event, in_pieces, text_of, text_stream
from tests.lazy import Lazy

openai = Lazy("openai")

MAIL = "canary.of.streams@acme.test"
CARD = "4111 1111 1111 1111"
SAID = f"Write to {MAIL} about the card {CARD}. Then call.\n"
SSE = {"content-type": "text/event-stream; charset=utf-8"}
SECONDS = 2.0


def asked(text: str = SAID, **members: Any) -> Body:
    return {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}], **members}


def said_back(request: Recorded) -> str:
    return str(request.json["messages"][-1]["content"])


def echo(request: Recorded) -> Reply:
    """Says the last message back, in pieces of three characters."""
    return Reply(text_stream(in_pieces(said_back(request), 3)), headers=SSE)


def begun(request: Recorded) -> list[bytes]:
    """The first events of an answer, up to the middle of the text."""
    text = said_back(request)
    return [event(chunk({"content": piece})) for piece in in_pieces(text + text[:9], 3)]


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Running:
    lab = f'[upstreams.lab]\nbase_url = "{_plain.url}/v1"\nmodels = ["m"]\ntimeout_seconds = {SECONDS}\n'
    seconds, level = str(SECONDS), "debug"
    running = gateways(
        web=True, config=lab, streaming="true", detection="patterns", upstream_timeout_seconds=seconds, log_level=level
    )
    with running.client() as client:
        for name, streaming in (("held", {"guard": "hold"}), ("unstreamed", {"allowed": False})):
            document = {"id": f"{name}-answers", "title": name, "description": name, "extends": "default"}
            assert client.post("/v1/policies", json=document | {"streaming": streaming}).status_code == 201
    return running


@pytest.fixture
def entrance(entrance: Entrance) -> Entrance:
    entrance.upstream.answer = echo
    return entrance


@contextmanager
def sdk(entrance: Entrance) -> Iterator[Any]:
    with entrance.connection(httpx2) as http:
        yield openai.OpenAI(base_url=f"{entrance.url}/v1", api_key=entrance.key, http_client=http, max_retries=0)


# Where both entrances do the same.
at_the_gateway = pytest.mark.parametrize("entrance", ["gateway"], indirect=True)


def test_the_sdk_reads_its_own_words(entrance: Entrance) -> None:
    with sdk(entrance) as client:
        stream = client.chat.completions.create(
            model="m", stream=True, messages=[{"role": "user", "content": SAID}], stream_options={"include_usage": True}
        )
        chunks = list(stream)
    assert "".join(each.choices[0].delta.content or "" for each in chunks if each.choices) == SAID
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert MAIL.encode() not in entrance.crossed
    assert CARD.encode() not in entrance.crossed


def test_it_comes_as_it_is_said(entrance: Entrance) -> None:
    """The upstream says no more before the client has read the beginning."""
    read = threading.Event()

    def pieces(request: Recorded) -> Iterator[bytes]:
        yield event(chunk({"content": f"{said_back(request)} And then"}))
        assert read.wait(20)
        yield event(chunk({}, 0, "stop")) + DONE

    entrance.upstream.answer = lambda request: Reply(pieces(request), headers=SSE)
    got = b""
    with entrance.client() as client, client.stream("POST", "/v1/chat/completions", json=asked()) as answer:
        for piece in answer.iter_raw():
            got += piece
            if text_of(got).startswith(SAID):
                read.set()
    assert read.is_set()
    assert text_of(got) == f"{SAID} And then"


def test_a_client_that_leaves_cancels_the_upstream(entrance: Entrance) -> None:
    def pieces(request: Recorded) -> Iterator[bytes]:
        yield b"".join(begun(request))
        assert request.left.wait(20)
        raise ConnectionError

    entrance.upstream.answer = lambda request: Reply(pieces(request), headers=SSE)
    with entrance.client() as client, client.stream("POST", "/v1/chat/completions", json=asked()) as answer:
        next(answer.iter_raw())
    assert entrance.upstream.recorded[0].left.wait(20)
    assert entrance.outcome(answer)["outcome"] == "cancelled"
    assert entrance.faults(answer) == []


def endings(request: Recorded) -> dict[str, Iterable[bytes]]:
    def breaks_off() -> Iterator[bytes]:
        yield from begun(request)
        raise ConnectionError

    def stalls() -> Iterator[bytes]:
        yield from begun(request)
        request.left.wait(20)

    return {"breaks off": breaks_off(), "stalls": stalls()}


@pytest.mark.parametrize(("how", "fault"), [("breaks off", "closed_early"), ("stalls", "timed_out")])
def test_an_upstream_that_does_not_end_its_answer(entrance: Entrance, how: str, fault: str) -> None:
    """The client must not take what it got for all of it."""
    entrance.upstream.answer = lambda request: Reply(iter(endings(request)[how]), headers=SSE)
    got = b""
    with (
        entrance.client() as client,
        client.stream("POST", "/v1/chat/completions", json=asked()) as answer,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        for piece in answer.iter_raw():
            got += piece
    assert text_of(got).startswith(SAID)
    assert not any(each["choices"][0]["finish_reason"] for each in bodies(got))
    assert b"[DONE]" not in got
    assert entrance.outcome(answer)["outcome"] == "upstream_error"
    assert entrance.faults(answer) == [fault]


@at_the_gateway
def test_the_time_counts_from_the_last_byte(entrance: Entrance) -> None:
    def pieces(request: Recorded) -> Iterator[bytes]:
        events = text_stream(in_pieces(said_back(request), 3)).split(b"data: ")
        for number, each in enumerate(events[1:]):
            yield b"data: " + each
            if number < 5:
                time.sleep(SECONDS / 4)

    entrance.upstream.answer = lambda request: Reply(pieces(request), headers=SSE)
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    assert text_of(answer.content) == SAID
    assert answer.content.endswith(DONE)
    assert entrance.outcome(answer)["outcome"] == "answered"


@at_the_gateway
def test_an_event_that_is_no_json_ends_it_with_an_error(entrance: Entrance) -> None:
    entrance.upstream.answer = lambda request: Reply(b"".join(begun(request)) + b"data: {oops\n\n" + DONE, headers=SSE)
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    assert bodies(answer.content)[-1]["error"]["code"] == "upstream_invalid"
    assert b"[DONE]" not in answer.content
    assert entrance.outcome(answer)["outcome"] == "unreadable_answer"


def test_an_error_in_place_of_a_stream(entrance: Entrance) -> None:
    def fail(request: Recorded) -> Reply:
        return Reply(json.dumps({"error": {"message": f"No: {said_back(request)}", "code": "x"}}).encode(), 500)

    entrance.upstream.answer = fail
    with sdk(entrance) as client, pytest.raises(openai.InternalServerError) as raised:
        client.chat.completions.create(model="m", stream=True, messages=[{"role": "user", "content": SAID}])
    assert raised.value.body == {"message": f"No: {SAID}", "code": "x"}


def test_a_compressed_stream_is_restored(entrance: Entrance) -> None:
    def compressed(request: Recorded) -> Reply:
        return Reply(
            gzip.compress(text_stream(in_pieces(said_back(request), 3))), headers=SSE | {"content-encoding": "gzip"}
        )

    entrance.upstream.answer = compressed
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    assert text_of(answer.content) == SAID
    assert entrance.outcome(answer)["outcome"] == "answered"


@at_the_gateway
def test_a_client_of_http_1_0_gets_all_of_it(entrance: Entrance) -> None:
    body = json.dumps(asked()).encode()
    head = f"POST /v1/chat/completions HTTP/1.0\r\nAuthorization: Bearer {OPERATOR_KEY}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    said = answer_to(entrance.running.port, head.encode() + body)
    top, _, content = said.partition(b"\r\n\r\n")
    assert b"chunked" not in top.lower()
    assert text_of(content) == SAID


def test_the_note_is_for_clients_of_the_gateway(entrance: Entrance) -> None:
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    notes = [each["svc"] for each in bodies(answer.content) if "svc" in each]
    assert len(notes) == (entrance.name == "gateway")
    assert all(note["request_id"] == answer.headers["x-svc-request-id"] for note in notes)


@at_the_gateway
def test_a_policy_that_holds_answers(entrance: Entrance) -> None:
    """Nothing of the text is delivered before its end has come."""
    last = threading.Event()
    seen: list[bool] = []

    def pieces(request: Recorded) -> Iterator[bytes]:
        yield from begun(request)
        last.set()
        yield event(chunk({}, 0, "stop")) + DONE

    entrance.upstream.answer = lambda request: Reply(pieces(request), headers=SSE)
    got = b""
    with (
        entrance.client() as client,
        client.stream("POST", "/v1/chat/completions", json=asked(svc_policy="held-answers")) as answer,
    ):
        for piece in answer.iter_raw():
            got += piece
            seen.append(bool(text_of(got)) and not last.is_set())
    assert text_of(got).startswith(SAID)
    assert not any(seen)


@at_the_gateway
def test_a_policy_that_refuses_streams(entrance: Entrance) -> None:
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked(svc_policy="unstreamed-answers"))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "streaming_not_supported", "stream")
    assert "policy" in error["message"]
    assert entrance.upstream.recorded == []


def test_operators_see_what_was_sent(entrance: Entrance, tmp_path: Path) -> None:
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    assert text_of(answer.content) == SAID
    sent = entrance.upstream.recorded[0]
    with operator(entrance.running) as web:
        flow = flow_with(web, answer.headers["x-svc-request-id"])
        shown = wait_for(lambda: web.get(f"/flows/{flow['id']}/response/content.data").content)
        seen = everything(web, only=flow["id"])
        dump = web.get("/flows/dump").content
    assert shown == text_stream(in_pieces(said_back(sent), 3))
    for stored in (seen, dump, har(dump, tmp_path)):
        assert b"[EMAIL_ADDRESS_" in stored
        assert MAIL.encode() not in stored
        assert CARD.encode() not in stored


def test_nothing_private_is_kept(entrance: Entrance) -> None:
    """Neither by the log nor by the database, after all the streams above."""
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    entrance.outcome(answer)
    with closing(sqlite3.connect(entrance.running.data / "gateway.db")) as database:
        stored = "\n".join(database.iterdump()).encode()
    kept = [path.read_bytes() for path in entrance.running.data.iterdir() if path.is_file()]
    for each in (stored, entrance.running.output().encode(), *kept):
        assert b"canary" not in each
        assert CARD.encode() not in each
