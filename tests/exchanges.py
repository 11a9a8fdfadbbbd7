"""Makes exchanges as the listeners do, without a listener."""

from collections.abc import Coroutine
from typing import Any

from gateway.container import Container
from gateway.exchange.destination import Destination
from gateway.exchange.messages import Call, ForwardedRequest, NativeResponse
from gateway.exchange.state import Exchange
from gateway.ids import new_request_id
from gateway.models import Caller
from gateway.server.dispatcher import Dispatcher
from gateway.wires.base import Body, Wire, Wires

_WIRES = Wires.discover()


async def protected_exchange(
    container: Container, wire: Wire, body: Body, caller: Caller, destination: Destination, **more: Any
) -> Exchange:
    """Returns the exchange of a request that may be forwarded. Raises GatewayError."""
    exchange = Exchange(new_request_id(), wire, caller, destination, body, **more)
    await container.protection.protect(exchange)
    return exchange


def opened(dispatcher: Dispatcher, call: Call) -> Coroutine[Any, Any, ForwardedRequest | NativeResponse]:
    """Opens a call as the listeners do, which find its wire."""
    wire = _WIRES.serving(call.method, call.path.partition("?")[0])
    return dispatcher.open(call._replace(wire=wire.id if wire else ""))
