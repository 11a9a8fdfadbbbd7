"""Puts private values into every string and key of a request, one at a time, and looks for them in what is sent."""

import copy
from collections.abc import Iterator
from typing import Any

from gateway.container import Container
from gateway.errors import GatewayError
from gateway.exchange.destination import Destination
from gateway.models import Caller, Scope, Trust
from gateway.wires.base import Body, Wire
from tests.exchanges import protected_exchange

VALUES = ("4111 1111 1111 1111", "anna.schmidt@acme.test", "DE89 3704 0044 0532 0130 00")


def variants(body: Body) -> Iterator[tuple[str, Body]]:
    """Yields the request with each value in each place, which is named."""
    for path in _paths(body):
        for value in VALUES:
            changed = copy.deepcopy(body)
            container: Any = changed
            for step in path[:-1]:
                container = container[step]
            last = path[-1]
            if isinstance(last, tuple):
                container[value] = container.pop(last[0])
            else:
                container[last] = value
            yield f"{'.'.join(map(str, path))} = {value}", changed


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, (name,))
            yield from _paths(member, (*path, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _paths(member, (*path, index))
    elif isinstance(value, str):
        yield path


async def sent_for(container: Container, wire: Wire, body: Body, path: str = "", caller: str = "key_anna") -> bytes:
    """Returns the body that is sent for a request."""
    model = wire.model(body, path)
    exchange = await protected_exchange(
        container,
        wire,
        body,
        Caller(caller, Scope.CLIENT),
        Destination(model if isinstance(model, str) else "", Trust.LOCAL),
        path=path,
        may_stream=True,
    )
    return exchange.body


async def leaks(container: Container, wire: Wire, body: Body, path: str = "") -> list[str]:
    """Returns the places from which a value is sent."""
    found = []
    for place, changed in variants(body):
        try:
            sent = await sent_for(container, wire, changed, path)
        except GatewayError as error:
            if any(value in error.message or value in (error.param or "") for value in VALUES):
                found.append(f"error for {place}")
            continue
        if any(value.encode() in sent for value in VALUES):
            found.append(place)
    return found
