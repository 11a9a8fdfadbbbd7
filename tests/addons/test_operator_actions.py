"""Operators hold, release, edit and stop requests; nothing but the body can be edited, and nothing is replayed."""

from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import exceptions, flow, http
from mitmproxy.test import tflow

from addons import operator_actions
from addons.flow_copies import flow_copy
from addons.flow_state import FlowState, FlowStates
from addons.operator_actions import NoReplay, OperatorHold
from addons.patches.connection_limits import Clients
from gateway.errors import GatewayError
from gateway.exchange.messages import ForwardedRequest, Listener
from gateway.models import ReceiptRef

RECEIPT, OF_EDIT = (ReceiptRef(f"req_0{number}", number, "{}") for number in (1, 2))
EDITED = ForwardedRequest("https://api.example/v1", (), b"protected again", receipt=OF_EDIT)


class Held:
    """A request that an operator holds, and what the addon does once `decide` has been applied to its copy."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(operator_actions, "_POLL_SECONDS", 0)
        self.flow = tflow.tflow()
        self.flow.intercept()
        states = FlowStates()
        self.state = FlowState("req_01", Listener.PROXY, http.Headers(), ("api.example", 443, "https"))
        self.state.forwarded = ForwardedRequest("https://api.example/v1", (), b"", receipt=RECEIPT)
        self.state.cleared = True
        self.state.shown = self.shown = flow_copy(self.flow)
        states.add(self.flow, self.state)
        self.errors: list[str] = []
        self.edits: list[tuple[str, bytes]] = []
        self.operators: list[str] = []
        review: Any = SimpleNamespace(hold=lambda _: None, is_held=lambda _: False, edited=lambda *_: None)
        refusals: Any = SimpleNamespace(shape=self._shape)
        self.addon = OperatorHold(SimpleNamespace(edit=self._edit), states, review, refusals, Clients(), 100)

    def _shape(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        self.errors.append(error.code)
        flow.response = http.Response.make(error.status)

    async def _edit(self, request_id: str, body: bytes, operator: str) -> ForwardedRequest:
        self.edits.append((request_id, body))
        self.operators.append(operator)
        return EDITED

    async def released(self) -> None:
        waiting = self.addon.request(self.flow)
        assert waiting is not None
        await waiting


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


@pytest.mark.parametrize("is_held", [True, False])
async def test_a_released_request_is_unchanged(held: Held, is_held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_held:
        held.flow.resume()
        monkeypatch.setattr(held.addon, "_hold", None)
    before = held.flow.request.copy()
    await held.released()
    assert not held.flow.intercepted
    assert (held.flow.request.data, held.edits, held.errors) == (before.data, [], [])


async def test_an_edited_body_is_protected_again(held: Held) -> None:
    held.shown.request.content = b"edited"
    await held.released()
    assert (held.edits, held.operators) == ([("req_01", b"edited")], [""])
    assert held.flow.request.content == EDITED.body
    assert held.state.forwarded == EDITED._replace(receipt=RECEIPT), "the answer names the receipt of the request"


EDITS: dict[str, Any] = {
    "another host": lambda shown: setattr(shown.request, "host", "elsewhere.example"),
    "another path": lambda shown: setattr(shown.request, "path", "/elsewhere"),
    "another header": lambda shown: shown.request.headers.add("x-more", "1"),
    "too long a body": lambda shown: setattr(shown.request, "content", b"x" * 101),
}


@pytest.mark.parametrize("name", EDITS)
async def test_other_edits_are_refused(held: Held, name: str) -> None:
    EDITS[name](held.shown)
    with pytest.raises(exceptions.AddonHalt):
        await held.released()
    assert (held.errors, held.edits, held.state.cleared) == (["edit_refused"], [], False)


@pytest.mark.parametrize("how", ["killed", "deleted"])
async def test_a_stopped_request_is_refused(held: Held, how: str) -> None:
    if how == "killed":
        held.shown.error = flow.Error(flow.Error.KILLED_MESSAGE)
    else:
        held.shown.intercept()
    with pytest.raises(exceptions.AddonHalt):
        await held.released()
    assert (held.errors, held.state.cleared) == (["stopped_by_operator"], False)


async def test_an_answer_never_waits(held: Held) -> None:
    answered = held.addon.response(held.flow)
    assert answered is not None
    await answered
    assert not held.flow.intercepted


def test_replaying_sends_nothing_and_is_an_error() -> None:
    with pytest.raises(exceptions.CommandError, match="Ask the client to send it again"):
        NoReplay().replay([tflow.tflow()])
