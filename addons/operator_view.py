"""The operators' list of flows in mitmweb, with a comment and a marker that tell the outcome of each request.

Does nothing without mitmweb.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from mitmproxy import ctx, flow, http
from mitmproxy.addons.view import View

from addons import flow_copies
from addons.flow_copies import UNKNOWN_HOST, Notes, code_of, metadata_of, plain_path, request_id_of, summary
from addons.flow_state import FlowState
from gateway.errors import EditRefused, GatewayError
from gateway.exchange.messages import Listener, NativeResponse
from gateway.models import ReceiptRef

# Characters that also fonts without emoji have.
PROTECTED = ":heavy_check_mark:"
FLAGGED = ":warning:"
GUARDED = ":scissors:"
REFUSED = ":heavy_multiplication_x:"
EDITED = ":pencil2:"
METADATA = ":information_source:"

_GUARDED = {"flag": "flagged", "redact": "redacted", "replace": "withheld"}


class Review:
    """Adds flows to the list and removes the oldest beyond `limit`.

    `intercepts` tells whether the proxy may decrypt traffic to a host and port; other hosts are not shown. Streamed
    answers are kept for the list, or if `keeps_answers` is set.
    """

    def __init__(self, limit: int, intercepts: Callable[[str, int], bool], *, keeps_answers: bool = False) -> None:
        self._limit = limit
        self._keeps_answers = keeps_answers
        self._intercepts = intercepts

    @property
    def view(self) -> View | None:
        """mitmweb's list, or None without mitmweb."""
        view: View | None = ctx.master.addons.get("view")
        return view

    @property
    def keeps_answers(self) -> bool:
        """Tells whether the flow of a streamed answer is to hold it."""
        return self._keeps_answers or self.view is not None

    @property
    def may_hold(self) -> bool:
        """Tells whether operators currently hold requests."""
        return self.view is not None and bool(ctx.options.intercept_active)

    def released(self, flow: http.HTTPFlow, state: FlowState) -> None:
        """Lists a request that is about to be forwarded."""
        forwarded = state.forwarded
        assert forwarded is not None
        if forwarded.receipt is None:
            words = ("passed", *_key(state), "carries no text", state.request_id)
        else:
            flow.marked = PROTECTED if forwarded.hidden else ""
            words = ("protected", *_key(state), summary(forwarded.receipt), state.request_id)
        flow.comment = " · ".join(words)
        view = self.view
        if view is None:
            return
        receipt = forwarded.receipt.body if forwarded.receipt else None
        decision = "protected" if receipt else "passed"
        wire = state.wire.id if state.wire else ""
        state.shown = flow_copies.flow_copy(flow)
        notes = Notes(state.request_id, receipt, forwarded.placeholders, decision=decision, wire=wire)
        notes.reasons = [list(each) for each in forwarded.reasons]
        notes.put(state.shown)
        self._note(flow, state.shown)
        self._add(view, state.shown)

    def edited(self, flow: http.HTTPFlow, state: FlowState, receipt: ReceiptRef, operator: str) -> None:
        """Shows an edit that was accepted, by the operator of that name if they have one."""
        flow.marked = EDITED
        by = f" by {operator}" if operator else ""
        flow.comment = f"edited{by}: #{receipt.sequence} · {flow.comment}"
        if state.shown is not None:
            self._show_request(flow, state.shown, edit=receipt.request_id, operator=operator)

    def answered(self, flow: http.HTTPFlow, state: FlowState, instead: GatewayError | None = None) -> None:
        """Shows the upstream's answer. `instead` is the error that the client gets in its place."""
        verdict = state.guard
        if verdict is not None and verdict["action"] != "pass":
            flow.marked = FLAGGED if verdict["action"] == "flag" else GUARDED
            flow.comment = f"answer {_GUARDED[verdict['action']]} · {flow.comment}"
        if instead is not None:
            flow.marked = REFUSED
            flow.comment = f"answer stopped: {instead.code} · {flow.comment}"
        if state.shown is None:
            return
        flow_copies.answer(state.shown, flow)
        self._note(flow, state.shown, guard=verdict)
        self._update(state.shown)

    def failed(self, failed: http.HTTPFlow, state: FlowState) -> None:
        """Shows that the connection broke off, before or after the request was forwarded."""
        if state.shown is None:
            how = "cancelled" if state.accepted else "broken off before it was read"
            self._list_metadata(failed, state, None, how, state.receipt)
        else:
            state.shown.error = flow.Error(failed.error.msg if failed.error else "broken off")
            self._update(state.shown)

    def refused(self, flow: http.HTTPFlow, state: FlowState, error: GatewayError) -> None:
        """Shows a refusal. The flow holds the client's answer."""
        if state.shown is None:
            self._list_metadata(flow, state, error.status, error.code, state.receipt)
        elif state.cleared:
            self.answered(flow, state, error)
        else:
            flow.marked = REFUSED
            found = error.found if isinstance(error, EditRefused) else ()
            reason = error.reason if isinstance(error, EditRefused) else ""
            flow.comment = " · ".join([f"refused: {error.code}", *found[:1], flow.comment])
            # Discards the operator's edit, which may hold what must not be forwarded.
            notes = {"refusal": error.code, "decision": "refused", "reason": reason, "found": list(found)}
            self._show_request(flow, state.shown, **notes)
            state.shown.request.data.host, state.shown.request.data.port, scheme = state.target
            state.shown.request.data.scheme = scheme.encode()
            self.answered(flow, state)

    def native(self, flow: http.HTTPFlow, state: FlowState, answered: NativeResponse) -> None:
        """Lists a call that the gateway answered itself."""
        assert flow.response is not None
        refusal = code_of(flow.response)
        guard = answered.guard["action"] if answered.guard is not None else None
        is_api = (answered.route or "").startswith("/v1/") or state.listener is Listener.PROXY
        if refusal is not None or is_api:
            self._list_metadata(flow, state, answered.status, refusal, answered.receipt, answered.route, guard)

    @property
    def held(self) -> int:
        """How many requests wait for an operator."""
        view = self.view
        return sum(each.intercepted for each in view._store.values()) if view is not None else 0

    def hold(self, held: http.HTTPFlow) -> None:
        """Shows a request as held, so that operators can release or stop it."""
        held.live = True
        held.intercept()
        self._update(held)

    def let_go(self, held: http.HTTPFlow) -> None:
        """Shows that a request is no longer held, as its client has gone."""
        held.resume()
        held.live = False
        self._update(held)

    def is_held(self, held: http.HTTPFlow) -> bool:
        """Tells whether an operator still has to decide. Deleting a request from the list stops it.

        So does opening a saved list, in which a copy can have its id.
        """
        view = self.view
        held.live = held.intercepted and view is not None and view.get_by_id(held.id) is held
        return held.live

    def _list_metadata(
        self,
        flow: http.HTTPFlow,
        state: FlowState,
        status: int | None,
        refusal: str | None,
        receipt: ReceiptRef | None,
        path: str | None = None,
        guard: str | None = None,
    ) -> None:
        """Lists the metadata of a call that was not forwarded."""
        view = self.view
        if view is None:
            return
        request_id = request_id_of(flow.response, receipt) or state.request_id
        added = flow_copies.entry(flow, self._address(flow, state), path or plain_path(flow.request.path), status)
        is_dropped = status is not None and state.listener is Listener.PROXY
        decision = "refused" if refusal else "dropped" if is_dropped else "answered"
        body = receipt.body if receipt else None
        notes = Notes(request_id, body, refusal=refusal, metadata_only=True, decision=decision)
        notes.put(added)
        words = [decision if refusal is None else refusal if status is None else f"refused: {refusal}"]
        added.marked = REFUSED if refusal else METADATA
        if guard is not None and guard != "pass":
            added.marked = FLAGGED if guard == "flag" else GUARDED
            words.append(f"answer {_GUARDED[guard]}")
        words += [*_key(state), *([summary(receipt)] if receipt else []), "metadata only", request_id]
        added.comment = " · ".join(words)
        self._add(view, added)

    def _address(self, flow: http.HTTPFlow, state: FlowState) -> tuple[str, str, int]:
        if state.listener is Listener.GATEWAY:
            host, port, *_ = flow.client_conn.sockname
            return "http", host, port
        host, port, scheme = state.target
        return scheme, host if self._intercepts(host, port) else UNKNOWN_HOST, port

    def _show_request(self, flow: http.HTTPFlow, shown: http.HTTPFlow, **notes: Any) -> None:
        """Shows the current request and drops the backup, so that an edit cannot be reverted."""
        shown.request = flow_copies.request(flow)
        shown._backup = None
        self._note(flow, shown, **notes)
        self._update(shown)

    def _note(self, flow: http.HTTPFlow, shown: http.HTTPFlow, **changed: Any) -> None:
        """Changes the notes on a flow and its copy, which also gets the flow's marker and comment."""
        notes = metadata_of(shown)
        if notes is not None:
            for each in (shown, flow):
                replace(notes, **changed).put(each)
        shown.marked, shown.comment = flow.marked, flow.comment

    def _update(self, changed: http.HTTPFlow) -> None:
        view = self.view
        if view is not None:
            view.update([changed])

    def _add(self, view: View, added: http.HTTPFlow) -> None:
        view.add([added])
        while view.store_count() > self._limit:
            # A request that was just released is live until its task has noticed; to remove it would stop it.
            oldest = next((each for each in view._store.values() if not (each.intercepted or each.live)), None)
            if oldest is None:
                return
            view.remove([oldest])


def _key(state: FlowState) -> Iterator[str]:
    """Yields the label of the caller's gateway key, or its id if it has none."""
    if state.caller is not None and state.caller.has_key:
        yield state.caller.label or state.caller.key_id
