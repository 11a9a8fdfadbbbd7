"""Differences between upstreams: how they number calls and divide their arguments, and members that they add."""

from typing import Any

import orjson
import pytest

from .support import DONE, Body, Session, bodies, chunk, event, message, played


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(mail=("EMAIL_ADDRESS", "anna@acme.test"), card=("CREDIT_CARD", "4111 1111 1111 1111"))


def calls_in(data: bytes) -> list[Body]:
    """The pieces of calls in all events."""
    found = [choice["delta"].get("tool_calls", []) for body in bodies(data) for choice in body["choices"]]
    return [call for calls in found for call in calls]


def calling(*calls: Body) -> bytes:
    return event(chunk({"tool_calls": [*calls]}))


def said_in(data: bytes, kind: str = "function", member: str = "arguments") -> dict[str, str]:
    """The texts of calls by their ids. A piece without an id belongs to the call before it."""
    texts: dict[str, str] = {}
    of = ""
    for call in calls_in(data):
        of = call.get("id", of)
        texts[of] = texts.get(of, "") + call[kind][member]
    return texts


END = event(chunk({}, 0, "tool_calls"))


@pytest.mark.parametrize("place", [{"index": 0}, {}])
@pytest.mark.parametrize("names", [("send", "send"), ("send", "post")])
def test_calls_given_at_once_need_no_place_of_their_own(session: Session, place: Body, names: tuple[str, str]) -> None:
    """So do some upstreams. Each call stays in its event, whole."""
    document = session.write('{"to": "{mail}"}')
    calls = [
        {**place, "id": f"call_{at}", "type": "function", "function": {"arguments": document, "name": name}}
        for at, name in enumerate(names)
    ]
    apart = [calling(call) for call in calls]
    for sent in (apart, [calling(*calls)]):
        data = b"".join([*sent, END, DONE])
        got = calls_in(played(session.stream(), [data]))
        assert [call["id"] for call in got] == ["call_0", "call_1"]
        assert [call["function"]["arguments"] for call in got] == ['{"to": "anna@acme.test"}'] * 2


def test_another_call_in_the_same_place_ends_the_one_before(session: Session) -> None:
    def piece(arguments: str, **members: Any) -> bytes:
        return calling({"index": 0, **members, "function": {"arguments": arguments}})

    first, second = session.write('{"to": "{mail}"'), session.write('{"to": "{card}"')
    sent = [piece(first, id="a"), piece("}"), piece(second, id="b"), piece("}", id="b"), event(chunk({}, 0, "stop"))]
    assert said_in(played(session.stream(), sent)) == {
        "a": session.read('{"to": "{mail}"}'),
        "b": session.read('{"to": "{card}"}'),
    }


def test_a_call_is_complete_when_the_next_one_begins(session: Session) -> None:
    """SDKs parse it then."""
    document = session.write('{"to": "{mail}"}')
    sent: list[bytes] = []
    for at in (0, 1):
        begun: Body = {"index": at, "id": f"c{at}", "type": "function", "function": {"name": "send", "arguments": ""}}
        calls = [begun, *({"index": at, "function": {"arguments": piece}} for piece in (document[:12], document[12:]))]
        sent += [calling(call) for call in calls]
    got = calls_in(played(session.stream(), [*sent, END, DONE]))
    assert [call["index"] for call in got] == sorted(call["index"] for call in got)
    texts = ["".join(call["function"]["arguments"] for call in got if call["index"] == at) for at in (0, 1)]
    assert texts == ['{"to": "anna@acme.test"}'] * 2


def test_calls_that_take_turns_keep_their_arguments(session: Session) -> None:
    begun = [{"index": at, "id": f"c{at}", "function": {"name": f"f{at}", "arguments": ""}} for at in (0, 1)]
    pieces = [(0, '{"to": "{mail}"'), (1, '{"to": "{card}"'), (0, "}"), (1, "}")]
    sent = [calling(*begun)]
    for at, text in pieces:
        sent.append(calling({"index": at, "function": {"arguments": session.write(text)}}))
    got = message(bodies(played(session.stream(), [*sent, END])))["choices"][0]["message"]
    said = [call["function"]["arguments"] for call in got["tool_calls"]]
    assert said == [session.read('{"to": "{mail}"}'), session.read('{"to": "{card}"}')]


def test_pieces_of_a_call_may_have_ids_of_their_own(session: Session) -> None:
    """So do some upstreams. A placeholder that is cut is restored nevertheless."""
    document = session.write('{"to": "{mail}", "cc": {"to": "{card}"}}')
    pieces: list[Body] = [{"arguments": document[at : at + 4]} for at in range(0, len(document), 4)]
    pieces[0]["name"] = "send"
    calls = [{"index": 0, "id": f"call_{at}", "function": piece} for at, piece in enumerate(pieces)]
    sent = [calling(call) for call in calls]
    got = calls_in(played(session.stream(), [*sent, END]))
    said = "".join(call["function"]["arguments"] for call in got)
    assert said == session.read('{"to": "{mail}", "cc": {"to": "{card}"}}')


@pytest.mark.parametrize("places", [(0, 0), (0, 1)])
def test_arguments_belong_to_the_tool_that_was_named_in_their_place(session: Session, places: tuple[int, int]) -> None:
    """The first piece of a call may have its name alone."""

    def piece(place: int, function: Body, **members: Any) -> bytes:
        return calling({"index": place, **members, "function": function})

    first, second = places
    begun = [
        piece(first, {"name": "look"}, id="a"),
        piece(first, {"arguments": "{}"}),
        piece(second, {"name": "send"}, id="b"),
    ]
    stream = session.stream()
    document = session.write('{"to": "{mail}"}')
    played(stream, [*begun, piece(second, {"arguments": document}), END])
    said = {(text.tool, text.text) for text in stream.result(200).texts if text.kind == "json"}
    assert said == {("look", "{}"), ("send", document)}


def test_calls_that_begin_at_once_keep_their_tools(session: Session) -> None:
    names = [{"index": at, "id": f"c{at}", "function": {"name": f"f{at}"}} for at in (0, 1)]
    given = [{"index": at, "function": {"arguments": f'{{"at": {at}}}'}} for at in (0, 1)]
    stream = session.stream()
    played(stream, [calling(*names), calling(*given)])
    said = {(text.tool, text.text) for text in stream.result(200).texts if text.kind == "json"}
    assert said == {("f0", '{"at": 0}'), ("f1", '{"at": 1}')}


def test_texts_for_tools_given_at_once_stay_whole(session: Session) -> None:
    calls = [
        {"index": 0, "id": f"call_{at}", "type": "custom", "custom": {"name": "send", "input": session.write(text)}}
        for at, text in enumerate(("Mail {mail}", "Pay {card}"))
    ]
    texts = said_in(played(session.stream(), [calling(*calls), END]), "custom", "input")
    assert texts == {"call_0": session.read("Mail {mail}"), "call_1": session.read("Pay {card}")}


@pytest.mark.parametrize("members", [{"error": {"message": "No {mail}."}}, {"search_results": [{"title": "{card}"}]}])
def test_members_next_to_the_choices_are_restored(session: Session, members: Body) -> None:
    sent = orjson.loads(session.write(orjson.dumps({**chunk({}), **members}).decode()))
    (got, _) = bodies(played(session.stream(note=None), [event(sent) + event(chunk({}, 0, "stop")) + DONE]))
    assert {name: got[name] for name in members} == orjson.loads(session.read(orjson.dumps(members).decode()))


def test_a_byte_order_mark_keeps_no_event_from_being_restored(session: Session) -> None:
    data = event(chunk({"content": session.write("By {mail}.")})) + event(chunk({}, 0, "stop")) + DONE
    assert played(session.stream(), [b"\xef\xbb\xbf" + data]) == played(session.stream(), [data])


@pytest.mark.parametrize("name", ["content", "reasoning_details"])
def test_parts_keep_their_types_where_they_go_on(session: Session, name: str) -> None:
    """Clients that know parts by their types lose one without, or fail on it."""
    pieces = session.write("By {mail}").partition("_")
    parts: list[list[Body]] = [[{"type": "thinking", "thinking": [{"type": "text", "text": each}]}] for each in pieces]
    sent = [*(event(chunk({name: part})) for part in parts), event(chunk({}, 0, "stop")), DONE]
    deltas = [body["choices"][0]["delta"] for body in bodies(played(session.stream(), sent))]
    got = [part for delta in deltas for part in delta.get(name, [])]
    assert {(part["type"], part["thinking"][0]["type"]) for part in got} == {("thinking", "text")}
    assert "".join(part["thinking"][0]["text"] for part in got) == session.read("By {mail}")


def test_arguments_that_are_no_string_come_back_whole(session: Session) -> None:
    given = {"to": session.write("{mail}"), "cards": [session.write("{card}")], "count": 2}
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "send", "arguments": given}}
    stream = session.stream()
    (got,) = calls_in(played(stream, [calling(call), END, DONE]))
    assert got["function"]["arguments"] == {"to": "anna@acme.test", "cards": ["4111 1111 1111 1111"], "count": 2}
    assert [text.tool for text in stream.result(200).texts if text.kind == "json"] == ["send"]
