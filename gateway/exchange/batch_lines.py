"""Protects the requests of a batch one after the other, so that memory holds one of them besides the bytes to send.

All of them share the session of the batch: equal values have equal placeholders, so that beginnings that requests have
in common stay in common.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from gateway.assessment import Assessment
from gateway.errors import BadRequest
from gateway.exchange.attachments import let_pass
from gateway.exchange.permissions import NO_MODEL, check_call, check_form, check_opaque
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump
from gateway.models import Risk, RiskLevel, Route, RouteDecision
from gateway.placeholders import RestoreScope
from gateway.protection.applied_corrections import Applied
from gateway.protection.protector import Protected
from gateway.wires.base import Conversation
from gateway.wires.batches import Request, at, beside
from gateway.wires.members import text_at

LARGEST_TURN = 128 * 1024
"""Characters of requests from which on a worker takes no further one in the same turn."""
_MOST_AT_ONCE = 64
_ROUTES, _LEVELS = list(RouteDecision), list(RiskLevel)


class Totals:
    """The sum of what was found in the requests of a batch: kinds and counts, without positions."""

    def __init__(self) -> None:
        self.protected = Protected()
        self.assessment = Assessment(Risk(RiskLevel.NONE, 0), Route(RouteDecision.DIRECT))
        self._same: dict[Any, Any] = {}

    def add(self, protected: Protected, assessment: Assessment, where: str = "") -> None:
        """Adds what was found in a request, which `where` names."""
        total, same = self.protected, self._same
        for given, kept in ((protected.hidden, total.hidden), (protected.kept, total.kept)):
            for each in given:
                plain: Any = each._replace(start=0, end=0, score=round(each.score, 2))
                kept.append(same.setdefault(plain, plain))
        for done in protected.transformations:
            if done.placeholder is not None and done.placeholder not in same:
                same[done.placeholder] = None
                total.transformations.append(done)
        total.tokens = total.tokens[0] + protected.tokens[0], total.tokens[1] + protected.tokens[1]
        total.urls |= protected.urls
        total.values |= protected.values
        total.own_types |= protected.own_types
        total.applied = _together(total.applied, protected.applied)
        risk, route = assessment.risk, assessment.route
        now = self.assessment
        if (_LEVELS.index(risk.level), risk.score) < (_LEVELS.index(now.risk.level), now.risk.score):
            risk = now.risk
        if _ROUTES.index(route.decision) <= _ROUTES.index(now.route.decision):
            route = now.route
        elif where:
            route = Route(route.decision, (f"{where}:", *route.reasons))
        self.assessment = Assessment(risk, route)


def _together(one: Applied | None, other: Applied | None) -> Applied | None:
    if one is None or other is None:
        return one or other
    applied = max(one.applied[0], other.applied[0]), max(one.applied[1], other.applied[1])
    return Applied(one.allowed | other.allowed, one.denied | other.denied, one.asked, applied)


class LineProtection:
    """Protects requests for the exchange of a batch, whose own `head` says under which wishes.

    `hide` protects the texts of a conversation, `is_name` tells whether a text may be the name of a model, and `most`
    is how many values the session of the batch may hold.
    """

    def __init__(
        self,
        exchange: Exchange,
        head: Conversation,
        *,
        hide: Callable[..., tuple[Protected, Assessment]],
        is_name: Callable[[str], bool],
        most: int,
    ) -> None:
        self._exchange = exchange
        self._head = head
        self._hide = hide
        self._is_name = is_name
        self._most = most
        self._names: set[str] = set()
        self.totals = Totals()

    def turn(self, requests: Iterator[Request]) -> tuple[list[bytes], int]:
        """Protects the next requests, as many as one turn takes. A job for a worker.

        Returns their protected forms, none at the end, and how many characters they had.
        """
        done: list[bytes] = []
        size = 0
        for request in islice(requests, _MOST_AT_ONCE):
            with at(request.where):
                conversation = self._read(request)
                size += sum(map(len, conversation.texts()))
                done.append(self._protected(request, conversation))
            if size > LARGEST_TURN:
                break
        return done, size

    def _read(self, request: Request) -> Conversation:
        """Reads a request, and checks that its caller may send it. Raises GatewayError."""
        exchange, wire, body, path = self._exchange, request.wire, request.body, request.path
        conversation = wire.read(body, path)
        conversation.mode, conversation.task = self._head.mode, self._head.task
        check_form(conversation, exchange.policy)
        let_pass(conversation, exchange.policy)
        destination, access, model = exchange.destination, exchange.batch, wire.model(body, path)
        served = model if isinstance(model, str) else ""
        if access is not None and access.serve is not None:
            surface, served = access.serve(model)
            if surface != destination.surface:
                raise BadRequest("Another upstream serves this model; send it a batch of its own.", param="model")
        check_call(wire, body, exchange.caller, replace(destination, model=served), path)
        for name in {served, *conversation.names} - self._names:
            if not self._is_name(name):
                raise BadRequest(NO_MODEL, param="model")
            self._names.add(name)
        if served:
            wire.set_model(body, served)
        conversation.blocks.append(beside(request))
        return conversation

    def _protected(self, request: Request, conversation: Conversation) -> bytes:
        exchange, own, placeholders = self._exchange, text_at(request.holder, "custom_id"), self._exchange.placeholders
        protected, assessment = self._hide(
            conversation,
            exchange.policy,
            placeholders,
            exchange.caller,
            advice=False,
            corrections=exchange.corrections,
        )
        if len(placeholders) > self._most:
            raise BadRequest(f"The batch has more than {self._most} private values (`max_values`); divide it.")
        sent, rules = text_at(request.holder, "custom_id"), RestoreScope(exchange.policy.restore.urls)
        if sent != own and placeholders.restore(sent, rules=rules).text != own:
            raise BadRequest("`custom_id` has private text that the policy does not put back; use another.")
        content = dump(request.holder)
        check_opaque(protected.values, content)
        self.totals.add(protected, assessment, request.where)
        return content
