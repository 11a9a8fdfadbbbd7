"""However the messages of a WebSocket are divided into frames, and the frames cut, both ends get the same."""

import json
import random
from collections.abc import Iterator

import pytest
from mitmproxy.proxy import events
from mitmproxy.proxy.layers.http import HttpResponseHeadersHook
from wsproto.connection import Connection
from wsproto.events import Ping, Pong, TextMessage

from gateway.exchange.streaming import AnswerStream
from gateway.exchange.streaming.framing import sequence_of, texts_of
from gateway.wires.responses import WIRE
from tests.addons.patches.test_websocket_frames import Driven, Sockets
from tests.chunkings import CHUNKINGS
from tests.gateway.wires.replays import byte_chunks, chunks, plan, read_sse, replay, session
from tests.gateway.wires.test_responses_streams import OUTPUT, REQUEST, stream

SHORT = [item for item in OUTPUT if item["type"] in {"message", "function_call"}][:2]
REQUESTS = [json.dumps({**REQUEST, "type": "response.create", "n": n}, ensure_ascii=False) for n in range(2)]
ANSWERS = [[json.dumps(event, ensure_ascii=False) for event in read_sse(stream(seed, SHORT))] for seed in range(2)]


def restoring(hook: object) -> None:
    """Restores the answers as the gateway does."""
    if isinstance(hook, HttpResponseHeadersHook):
        assert hook.flow.response is not None
        answer = AnswerStream(WIRE, plan(session()[0], REQUEST, framing="json-seq"), limit=1 << 24)
        hook.flow.response.stream = lambda piece: answer.feed(piece) if piece else answer.finish()


def framed(peer: Connection, messages: list[str], dice: random.Random) -> bytes:
    """Returns messages in fragments of any size, empty ones too, with pings and pongs between them."""
    sent: list[TextMessage | Ping | Pong] = []
    for message in messages:
        pieces = [*chunks(message, dice, dice.choice((5, 60, 10_000))), *([""] * dice.randrange(2))]
        for number, piece in enumerate(pieces):
            sent.append(TextMessage(piece, message_finished=number == len(pieces) - 1))
            sent += [dice.choice((Ping, Pong))(b"canary")] * (dice.random() < 0.1)
    return b"".join(map(peer.send, sent))


def texts(peer: Connection) -> list[str]:
    """Returns the messages that a peer got."""
    return ["".join(group) for group in grouped(peer)]


def grouped(peer: Connection) -> Iterator[list[str]]:
    parts: list[str] = []
    for event in peer.events():
        if isinstance(event, TextMessage):
            parts.append(event.data)
            if event.message_finished:
                yield parts
                parts = []
        else:
            assert isinstance(event, Pong)


@pytest.mark.slow
def test_frames_divided_and_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sockets, "answer_limit", 1 << 24)
    wanted: list[str] = []
    for answer in ANSWERS:
        body, _ = replay(WIRE, [sequence_of(*map(str.encode, answer))], plan(session()[0], REQUEST, framing="json-seq"))
        wanted += [text.decode() for text in texts_of(body)]
    dice, cuts = random.Random(47), 0
    # Each run cuts at some hundred places.
    for _ in range(CHUNKINGS // 5):
        driven = Driven()
        driven.hook = restoring
        for peer, conn, messages in (
            (driven.client, driven.context.client, REQUESTS),
            (driven.server, driven.context.server, [text for answer in ANSWERS for text in answer]),
        ):
            for piece in byte_chunks(framed(peer, messages, dice), dice, dice.choice((20, 200, 2000))):
                driven.take(events.DataReceived(conn, piece))
                cuts += 1
        assert texts(driven.server) == ['{"input":"[EMAIL_ADDRESS_7KQ2M]"}'] * len(REQUESTS)
        assert texts(driven.client) == wanted
        asked = [json.loads(hook.flow.request.raw_content) for hook in driven.hooks if hook.name == "request"]
        assert asked == [json.loads(request) for request in REQUESTS]
        assert not driven.closed
    assert cuts > 100 * CHUNKINGS
