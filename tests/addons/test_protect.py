"""Every hook of the addon: what it asks the gateway, what it leaves in the flow, and that each failure is closed."""

import gzip
from collections.abc import Iterator
from typing import Any, cast

import pytest
from mitmproxy import exceptions, http
from mitmproxy.flow import Error
from mitmproxy.test import taddons, tflow

from addons.credentials import SealedHeaders
from addons.fail_closed import DEAD_END
from addons.metered_reader import ClientGone
from gateway.errors import BadUpstream, Forbidden, GatewayError, NotFound, Unauthorized, Unavailable
from gateway.exchange.messages import AnswerEnd
from gateway.http.upstream_failures import Fault
from tests.addons.protected_flows import FORWARDED, KEY, LARGE, NATIVE, PLAN, RECEIPT, SECRET, SSE, WIRE, Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with taddons.context():
        yield Bench()


def assert_refused(flow: http.HTTPFlow, status: int, code: str) -> None:
    assert (flow.request.data.host, flow.request.data.port) == DEAD_END
    assert flow.request.raw_content == b""
    assert flow.response is not None
    assert (flow.response.status_code, flow.response.json()["error"]["code"]) == (status, code)
    assert b"canary" not in bytes(flow.response.raw_content or b"")


LENGTH = b"content-length"
PROXY = {"mode": "regular"}


@pytest.mark.parametrize(
    ("fields", "mode", "asked", "limit"),
    [
        ([KEY, (LENGTH, b"65536")], "reverse:http://h", False, 65_536),
        ([(LENGTH, b"65536")], "regular", False, 65_536),
        ([KEY, (LENGTH, b"65537")], "reverse:http://h", True, LARGE),
        ([KEY, (b"transfer-encoding", b"chunked")], "reverse:http://h", True, LARGE),
        ([KEY, (LENGTH, b"9"), (b"expect", b"100-continue")], "reverse:http://h", True, LARGE),
        ([(LENGTH, b"9")], "reverse:http://h", True, LARGE),
        ([KEY, (LENGTH, b"0")], "reverse:http://h", False, None),
    ],
)
async def test_a_head_is_checked_unless_its_body_is_small(
    bench: Bench, fields: list[tuple[bytes, bytes]], mode: str, asked: bool, limit: int | None
) -> None:
    flow = bench.flow(mode=mode)
    flow.request.headers = http.Headers(fields)
    await bench.after("requestheaders", flow=flow)
    assert bench.gateway.calls == ["check_head"] * asked
    client = bench.clients.of(flow.client_conn)
    assert client is not None
    assert client.body_limit == limit


async def test_a_public_page_takes_a_short_body(bench: Bench) -> None:
    bench.gateway.results["check_head"] = None
    flow = bench.flow(path=b"/docs")
    flow.request.headers = http.Headers([(LENGTH, b"1001")])
    await bench.after("requestheaders", flow=flow)
    assert_refused(flow, 413, "body_too_large")


async def test_a_caller_takes_two_calls_for_a_request_once_a_head_was_accepted(bench: Bench) -> None:
    for calls in (["check_head", "open", "close"], ["open", "close"]):
        bench.gateway.calls.clear()
        flow = bench.flow(KEY)
        flow.request.headers["content-length"] = "70000"
        flow.request.data.content = b"canary" * 10
        await bench.after("requestheaders", "request", "responseheaders", "response", flow=flow)
        assert bench.gateway.calls == calls
        bench.clients.remove(flow.client_conn.id)


REFUSED_HEADS: dict[str, tuple[dict[str, Any], int, str]] = {
    "the gateway refuses it": ({"check_head": Unauthorized("No.")}, 401, "unauthorized"),
    "the gateway fails": ({"check_head": RuntimeError("canary")}, 500, "internal_error"),
    "the body is too large": ({}, 413, "body_too_large"),
}


@pytest.mark.parametrize("case", REFUSED_HEADS)
async def test_a_head_that_is_refused_is_answered_at_once(bench: Bench, case: str) -> None:
    bench.gateway.results, status, code = REFUSED_HEADS[case]
    flow = bench.flow((LENGTH, b"100001"))
    flow.request.headers = http.Headers([KEY, (LENGTH, b"100001")])
    await bench.after("requestheaders", flow=flow)
    assert_refused(flow, status, code)
    client = bench.clients.of(flow.client_conn)
    assert client is not None
    assert client.refusal is not None
    assert client.refusal.startswith(b"HTTP/1.1 %d" % status)
    with pytest.raises(exceptions.AddonHalt):
        await bench.protect.error(flow)
    # The gateway records by itself what it refuses.
    assert bench.gateway.noted == ([] if bench.gateway.results.get("check_head") and code == "unauthorized" else [code])


@pytest.mark.parametrize(
    ("host", "fields", "code"),
    [
        ("else.example", [(b"x-svc-policy", b"p"), (b"accept", b"*/*")], None),
        ("unprotected.example", [], "unprotected_host"),
        ("else.example", [(b"authorization", b"Bearer svck_canary")], "unauthorized"),
    ],
)
async def test_a_proxied_request_to_another_host(
    bench: Bench, host: str, fields: list[tuple[bytes, bytes]], code: str | None
) -> None:
    flow = bench.flow(mode="regular", host=host)
    flow.client_conn.tls = False
    flow.request.headers = http.Headers([(b"host", host.encode()), *fields])
    await bench.after("requestheaders", flow=flow)
    assert bench.halted
    if code is not None:
        assert flow.response is not None
        assert flow.response.json()["error"]["code"] == code
        return
    assert flow.request.stream
    assert flow.request.host == host
    assert [*flow.request.headers] == ["host", "accept"]
    await bench.after("request", flow=flow)
    await bench.after("responseheaders", "response", flow=flow)
    assert flow.response is not None
    assert flow.response.stream
    assert bench.gateway.calls == []


async def test_geminis_key_moves_from_the_query_to_a_header(bench: Bench) -> None:
    flow = bench.flow(path=b"/v1beta/models/gemini-x:generateContent?key=svck_canary&alt=sse")
    await bench.after("requestheaders", flow=flow)
    assert flow.request.path.endswith(":generateContent?alt=sse")
    assert bench.state(flow).headers["x-goog-api-key"] == "svck_canary"


async def test_a_protected_request_gets_its_destination(bench: Bench) -> None:
    flow = await bench.after("requestheaders")
    assert bench.halted
    assert flow.request.headers["x-svc-key"] == "[credential]"
    assert (flow.request.data.host, flow.request.data.port) == DEAD_END
    state = bench.state(flow)
    assert state.headers["x-svc-key"] == "svck_canary"
    assert (state.target, state.wire and state.wire.id) == (("api.example", 80, "http"), WIRE)
    await bench.after("request", flow=flow)
    assert not bench.halted
    assert (flow.request.pretty_url, flow.request.content) == (FORWARDED.url, b"protected")
    assert flow.request.headers["authorization"] == "[credential]"
    assert SECRET in bytes(flow.request.headers)
    (call,) = bench.gateway.given
    assert (call.content, call.wire, call.origin) == (b"canary-4711", WIRE, "http://api.example:80")
    assert KEY in call.fields
    assert state.cleared


@pytest.mark.parametrize(("method", "headers", "body", "length"), [
    *[("GET", NATIVE.headers, b"page", "4"), ("HEAD", NATIVE.headers, b"", "4")],
    ("GET", [(b"content-encoding", b"gzip"), (b"content-length", b"24")], gzip.compress(b"page", mtime=0), "24"),
    ("GET", [], b"in parts", "8"),
    ("GET", [(b"etag", b'"not modified"')], b"", None),
])  # fmt: skip
async def test_the_gateways_own_answer(
    bench: Bench, method: str, headers: Any, body: bytes, length: str | None
) -> None:
    bench.gateway.results["open"] = NATIVE._replace(headers=headers, body=body)
    flow = bench.flow(KEY)
    flow.request.method = method
    await bench.after("requestheaders", "request", flow=flow)
    assert bench.halted
    assert flow.response is not None
    assert (flow.response.raw_content, flow.response.headers.get("content-length")) == (body, length)
    for hook in ("responseheaders", "response"):
        with pytest.raises(exceptions.AddonHalt):
            await getattr(bench.protect, hook)(flow)
    assert bench.gateway.calls == ["open"]


def with_receipt(error: GatewayError) -> GatewayError:
    error.receipt = RECEIPT
    return error


@pytest.mark.parametrize(
    ("result", "status", "code"),
    [
        (with_receipt(Forbidden("No.", code="blocked_by_policy")), 403, "blocked_by_policy"),
        (ValueError("canary"), 500, "internal_error"),
        (FORWARDED._replace(url="nowhere"), 500, "internal_error"),
    ],
)
async def test_a_request_that_is_not_protected_ends(bench: Bench, result: Any, status: int, code: str) -> None:
    bench.gateway.results["open"] = result
    flow = await bench.after("requestheaders", "request")
    assert bench.halted
    assert_refused(flow, status, code)
    assert bench.state(flow).receipt == getattr(result, "receipt", None) or not isinstance(result, GatewayError)
    assert bench.gateway.told == [("refused", False)]


async def test_a_client_that_leaves_gets_no_answer(bench: Bench) -> None:
    bench.gateway.results["open"] = ClientGone()
    flow = await bench.after("requestheaders", "request")
    assert bench.halted
    assert flow.error is not None
    assert flow.error.msg == Error.KILLED_MESSAGE
    assert bench.gateway.told == [("cancelled", False)]


async def test_a_request_while_the_gateway_stops_is_refused(bench: Bench) -> None:
    flow = await bench.after("requestheaders")
    bench.states.closing = True
    await bench.after("request", flow=flow)
    assert_refused(flow, 503, "stopping")
    assert flow.response is not None
    assert flow.response.headers["connection"] == "close"
    assert bench.gateway.calls == []


@pytest.mark.parametrize("hook", ["requestheaders", "request", "responseheaders", "response", "error"])
async def test_a_flow_that_was_loaded_is_left_alone(bench: Bench, hook: str) -> None:
    flow = tflow.tflow(resp=True)
    flow.live = False
    before = flow.get_state()
    result = getattr(bench.protect, hook)(flow)
    if result is not None:
        await result
    assert flow.get_state() == before
    assert bench.gateway.calls == []


async def test_a_flow_without_a_state_ends(bench: Bench) -> None:
    """No listener has seen its head."""
    flow = await bench.after("request", flow=bench.flow(KEY))
    assert_refused(flow, 404, NotFound.default_code)
    for hook in ("responseheaders", "response"):
        await bench.after(hook, flow=bench.flow(KEY))
        assert bench.halted
    flow = bench.flow(KEY)
    with pytest.raises(exceptions.AddonHalt):
        await bench.protect.error(flow)
    assert flow.request.content == b""


@pytest.mark.parametrize("mode", ["reverse:http://h", "regular"])
async def test_the_head_of_an_answer(bench: Bench, mode: str) -> None:
    head = {"x-svc-policy": "forged", "alt-svc": "h3", "x-echo": SECRET.decode(), "strict-transport-security": "a"}
    flow = await bench.after(
        "requestheaders", "request", "responseheaders", flow=bench.flow(KEY, mode=mode), headers=head
    )
    assert flow.response is not None
    headers = flow.response.headers
    assert isinstance(headers, SealedHeaders)
    assert headers["x-svc-request-id"] == RECEIPT.request_id
    assert "canary" not in str(headers)
    assert headers["x-svc-policy"] == "default@1"
    assert "alt-svc" not in headers
    assert ("strict-transport-security" in headers) == (mode == "regular")
    assert ("x-content-type-options" in headers) == (mode != "regular")


async def test_an_answer_is_decoded_and_scrubbed_first(bench: Bench) -> None:
    said: dict[str, Any] = {"content": gzip.compress(b"for " + SECRET), "headers": {"content-encoding": "gzip"}}
    flow = await bench.after("requestheaders", "request", "responseheaders", "response", **said)
    assert flow.response is not None
    assert flow.response.raw_content == bench.gateway.given[2] == b"for Bearer [credential]"


async def test_a_restored_answer_is_not_in_the_flow(bench: Bench) -> None:
    flow = await bench.after("requestheaders", "request", "responseheaders", "response")
    assert flow.response is not None
    assert flow.response.content == b"received"
    state = bench.state(flow)
    assert (state.answer, state.guard) == (b"restored", {"action": "pass", "findings": []})
    assert bench.gateway.given == [state.request_id, 200, b"received"]
    assert bench.gateway.told == []


@pytest.mark.parametrize(
    ("result", "answer", "error", "told"),
    [
        (BadUpstream("No.", code="upstream_invalid"), None, (502, "upstream_invalid"), [("unreadable_answer", False)]),
        (Unavailable("Silent."), b"received", None, [("restore_failed", True)]),
        (RuntimeError("canary"), None, (500, "internal_error"), [("refused", False)]),
    ],
)
async def test_an_answer_that_is_not_restored(
    bench: Bench, result: Exception, answer: bytes | None, error: tuple[int, str] | None, told: list[Any]
) -> None:
    bench.gateway.results["close"] = result
    flow = await bench.after("requestheaders", "request", "responseheaders", "response")
    assert bench.gateway.told == told
    assert bench.state(flow).answer == answer
    if error is not None:
        assert_refused(flow, *error)


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ({"status_code": 302, "headers": {"location": "http://else.example"}}, ("unreadable_answer", True)),
        ({"headers": {"content-encoding": "gzip"}}, ("unreadable_answer", False)),
        ({"content": b"x" * (LARGE + 1), "headers": {"content-encoding": "identity"}}, ("unreadable_answer", False)),
    ],
)
async def test_an_answer_that_cannot_be_read(bench: Bench, response: dict[str, Any], told: tuple[str, bool]) -> None:
    flow = await bench.after("requestheaders", "request", "responseheaders", "response", **response)
    assert flow.response is not None
    assert (flow.response.status_code, flow.response.json()["error"]["code"]) == (502, "upstream_invalid")
    assert bench.gateway.told == [told]
    assert bench.gateway.calls == ["open"]


async def test_an_answer_to_a_call_without_text_passes(bench: Bench) -> None:
    bench.gateway.results["open"] = FORWARDED._replace(receipt=None)
    flow = await bench.after("requestheaders", "request", "responseheaders", "response", content=b"")
    assert bench.gateway.calls == ["open"]
    assert bench.states.of(flow) is None


STREAMS: dict[str, tuple[dict[str, Any], dict[str, Any], str, bool]] = {
    "as planned": ({"plan": PLAN}, {"headers": SSE}, "HTTP/1.1", True),
    "without a plan": ({}, {"headers": SSE}, "HTTP/1.1", False),
    "to an old client": ({"plan": PLAN}, {"headers": SSE}, "HTTP/1.0", False),
    "of another kind": ({"plan": PLAN}, {"headers": {"content-type": "text/html"}}, "HTTP/1.1", False),
    "of an error": ({"plan": PLAN}, {"headers": SSE, "status_code": 500}, "HTTP/1.1", False),
    "compressed": ({"plan": PLAN}, {"headers": {**SSE, "content-encoding": "gzip"}}, "HTTP/1.1", False),
}


@pytest.mark.parametrize("case", STREAMS)
async def test_some_answers_are_restored_as_they_arrive(bench: Bench, case: str) -> None:
    members, response, version, streams = STREAMS[case]
    bench.gateway.results["open"] = FORWARDED._replace(**members)
    flow = bench.flow(KEY)
    flow.request.http_version = version
    await bench.after("requestheaders", "request", "responseheaders", flow=flow, **response)
    assert flow.response is not None
    assert (bench.state(flow).stream is not None) is streams
    assert bool(flow.response.stream) is streams


@pytest.mark.parametrize(("result", "told"), [(None, []), (Unavailable("Silent."), [("answered", True)])])
async def test_a_stream_is_recorded_at_its_end(bench: Bench, result: Exception | None, told: list[Any]) -> None:
    bench.gateway.results |= {
        "open": FORWARDED._replace(plan=PLAN),
        "end": result or {"action": "pass", "findings": []},
    }
    flow = await bench.after("requestheaders", "request", "responseheaders", headers=SSE)
    assert flow.response is not None
    stream = cast(Any, flow.response.stream)
    pieces = [*stream(b'data: {"choices":[]}\n\n'), *stream(b"")]
    assert pieces == [b'data: {"choices":[]}\n\n']
    await bench.after("response", flow=flow)
    _, end = bench.gateway.given
    assert isinstance(end, AnswerEnd)
    assert (end.outcome, end.status, bench.gateway.calls) == ("answered", 200, ["open", "end"])
    assert bench.gateway.told == told
    assert bench.states.of(flow) is None


@pytest.mark.parametrize(
    ("message", "late", "told"),
    [
        ("[Errno 111] refused", False, ("upstream_error", False)),
        (Error.KILLED_MESSAGE, False, ("cancelled", False)),
        (Error.KILLED_MESSAGE, True, ("upstream_error", False)),
        (None, False, ("failed", False)),
    ],
)
async def test_a_flow_that_breaks_off_or_is_dropped_is_recorded(
    bench: Bench, message: str | None, late: bool, told: tuple[str, bool], caplog: pytest.LogCaptureFixture
) -> None:
    flow = await bench.after("requestheaders", "request")
    state = bench.state(flow)
    state.fault = Fault.TIMED_OUT if late else None
    if message is None:
        assert state.watch is not None
        state.watch()
    else:
        flow.error = Error(message)
        await bench.protect.error(flow)
        assert bench.states.of(flow) is None
        assert ("api.example" in caplog.text) == (told[0] == "upstream_error")
    assert bench.gateway.told == [told]


async def test_a_flow_that_breaks_off_before_it_was_protected_shows_no_text(bench: Bench) -> None:
    flow = await bench.after("requestheaders")
    flow.error = Error("broken off")
    with pytest.raises(exceptions.AddonHalt):
        await bench.protect.error(flow)
    assert flow.request.content == b""
    assert bench.gateway.told == []
    assert bench.gateway.noted == ["cancelled"]
