"""The operators' list is bounded, shares nothing with the flows that are served, and tells little of a call."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from mitmproxy import flowfilter, http
from mitmproxy.addons.view import View
from mitmproxy.test import taddons, tflow

from addons import flow_copies as shown
from addons.flow_copies import code_of, plain_path, request_id_of
from addons.flow_state import FlowState
from addons.operator_view import METADATA, REFUSED, Review
from gateway.errors import Forbidden
from gateway.exchange.messages import ForwardedRequest, Listener, NativeResponse
from gateway.models import Caller, Scope
from tests.conftest import vectors


@contextmanager
def listing(limit: int) -> Iterator[tuple[Review, View]]:
    view = View()
    with taddons.context(view):
        yield Review(limit, lambda host, port: (host, port) == ("api.example", 443)), view


def visit_of(flow: http.HTTPFlow, target: tuple[str, int, str] = ("api.example", 443, "https")) -> FlowState:
    return FlowState("req_01", Listener.PROXY, flow.request.headers, target)


def refuse(review: Review, flow: http.HTTPFlow, state: FlowState | None = None) -> None:
    flow.response = http.Response.make(403)
    review.refused(flow, state or visit_of(flow), Forbidden("No."))


async def test_the_oldest_go_first_but_for_those_that_are_held() -> None:
    with listing(3) as (review, view):
        for number in range(3):
            refuse(review, tflow.tflow(req=tflow.treq(timestamp_start=number, timestamp_end=number)))
        held, second, third = view
        review.hold(held)
        refuse(review, tflow.tflow(req=tflow.treq(timestamp_start=9, timestamp_end=9)))
        assert [flow.id for flow in view][:2] == [held.id, third.id]
        assert view.get_by_id(second.id) is None
        assert view.store_count() == 3
        # Released by an operator, but its task has not noticed yet.
        held.resume()
        refuse(review, tflow.tflow(req=tflow.treq(timestamp_start=10, timestamp_end=10)))
        assert view.get_by_id(held.id) is not None
        assert held.error is None
        assert not review.is_held(held)
        refuse(review, tflow.tflow(req=tflow.treq(timestamp_start=11, timestamp_end=11)))
        assert view.get_by_id(held.id) is None


async def test_without_a_list_or_mitmweb_nothing_is_done_for_one() -> None:
    with listing(0) as (review, view):
        refuse(review, tflow.tflow())
        assert view.store_count() == 0
    with taddons.context():
        review = Review(3, lambda host, port: True)
        flow = tflow.tflow()
        state = visit_of(flow)
        state.forwarded = ForwardedRequest("https://api.example/v1/models", (), b"")
        review.released(flow, state)
        refuse(review, flow, state)
        assert state.shown is None
        assert not review.may_hold


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mitmproxy's parser of filters
async def test_an_entry_holds_nothing_of_the_call_itself_and_is_found_by_marker_and_comment() -> None:
    flow = tflow.tflow(req=tflow.treq(method=b"CANARY", path=b"/canary?canary", host="canary", content=b"canary"))
    flow.request.headers["x-canary"] = "canary"
    flow.client_conn.sni = "canary"
    with listing(3) as (review, view):
        refuse(review, flow, visit_of(flow, ("canary", 443, "https")))
        (entry,) = view
        assert "canary" not in repr(entry.get_state()).lower()
        assert entry.request.pretty_url == "https://not-shown.invalid/(not-shown)"
        assert (entry.request.method, entry.marked) == ("OTHER", REFUSED)
        assert entry.comment == "refused: forbidden · metadata only · req_01"
        for wanted in ("~marked", "~marker heavy_multiplication_x", "~comment forbidden", "~comment req_01"):
            assert flowfilter.match(wanted, entry)
        assert not flowfilter.match(f"~marker {METADATA.strip(':')}", entry)


async def test_the_fate_of_a_call_is_noted() -> None:
    with listing(3) as (review, view):
        passed, dropped = tflow.tflow(), tflow.tflow()
        state = visit_of(passed)
        state.forwarded = ForwardedRequest("https://api.example/v1/models", (), b"")
        review.released(passed, state)
        dropped.response = http.Response.make(202)
        known = visit_of(dropped)
        known.caller = Caller("key_01", Scope.CLIENT, label="anna")
        review.native(dropped, known, NativeResponse(202, (), b"{}", "/v1/traces/ingest"))
        refuse(review, tflow.tflow())
        decisions = [notes.decision for flow in view._store.values() if (notes := shown.metadata_of(flow))]
        assert decisions == ["passed", "dropped", "refused"]
        assert [*view._store.values()][1].comment == "dropped · anna · metadata only · req_01"


@pytest.mark.parametrize(("accepted", "fate"), [(False, "broken off before it was read"), (True, "cancelled")])
async def test_an_interrupted_request_is_shown_as_that(accepted: bool, fate: str) -> None:
    flow = tflow.tflow(err=True)
    state = visit_of(flow)
    state.accepted = accepted
    with listing(3) as (review, view):
        review.failed(flow, state)
        (entry,) = view
        assert entry.response is None
        assert str(entry.error) == "broken off before anything was sent"
        assert entry.comment == f"{fate} · metadata only · req_01"


def test_a_likeness_shares_nothing_that_can_be_changed() -> None:
    flow = tflow.tflow(resp=True)
    flow.server_conn.timestamp_start = 1.0
    assert flow.response is not None
    flow.response.stream = lambda chunk: chunk
    likeness = shown.flow_copy(flow)
    shown.answer(likeness, flow)
    before = flow.get_state()
    likeness.backup()
    likeness.request.text = "scribbled"
    likeness.request.host = "elsewhere"
    likeness.request.headers.clear()
    assert likeness.response is not None
    assert likeness.response.stream is False
    likeness.response.headers.clear()
    likeness.response.status_code = 500
    likeness.client_conn.sni = "elsewhere"
    likeness.server_conn.timestamp_start = 2.0
    likeness.revert()
    likeness.intercept()
    assert flow.get_state() == before


PATHS = vectors("operators/shown_paths")


@pytest.mark.parametrize("path", PATHS)
def test_only_protocol_words_of_a_path_are_shown(path: str) -> None:
    assert plain_path(path) == PATHS[path]


@pytest.mark.parametrize(
    "body",
    [b"", b'{"request_id":"req_7f","text":"x"}', b'{"data":[{"request_id":"req_7f"}]}', b'{"request_id":"anna"}'],
)
def test_the_request_id_is_that_of_the_head_and_never_one_that_a_body_lists(body: bytes) -> None:
    assert request_id_of(http.Response.make(200, body), None) is None
    assert request_id_of(http.Response.make(200, body, {"X-SVC-Request-Id": "req_01"}), None) == "req_01"


CODES = {
    b'{"error": {"code": "not_found"}}': "not_found",
    b'{"error": {"code": "Anna Schmidt"}}': "status 404",
    b'{"error": "Anna Schmidt"}': "status 404",
    b"Anna Schmidt": "status 404",
}


@pytest.mark.parametrize("body", CODES)
def test_the_code_of_an_error_is_one_of_ours(body: bytes) -> None:
    assert code_of(http.Response.make(404, body)) == CODES[body]
    assert code_of(http.Response.make(200, body)) is None
