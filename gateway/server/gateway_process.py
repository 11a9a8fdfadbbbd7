"""Runs the gateway in a process separate from the listeners.

Detection then takes no time from the event loop that moves bytes, and each process can use a core of its own. The
parent calls the child; when either ends, for whatever reason, so does the other.
"""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from functools import partial
from importlib import import_module
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError, InternalError, Unavailable
from gateway.exchange.messages import Call, Gateway
from gateway.workers.cores import share_one_core
from gateway.workers.event_loop import run
from gateway.workers.memory import bound_free_memory, trim, use_huge_pages
from gateway.workers.rpc import SILENCE_SECONDS, Link, NoReply, answer
from gateway.workers.stop_signals import ignore_stop_signals, on_stop

if TYPE_CHECKING:
    from gateway.server.dispatcher import Dispatcher
    from gateway.workers.search_processes import Searches, SearchProcesses

_log = logging.getLogger(__name__)

_STOP_SECONDS = 15.0
_CALLS = "check_proxy_key check_head open caller_of note edit close end fail disconnected check metrics".split()
_SLOW_IMPORTS = ("gateway.api.app", "gateway.server.dispatcher")

type Reload = Callable[[Settings], Awaitable[int]]
"""`Container.reload`."""
type UseLog = Callable[[Settings], object]
"""Makes the log of the settings that of this process."""


class Monitored(Protocol):
    """The part of a gateway that monitoring asks."""

    async def check(self) -> None:
        """Checks that requests can be served. Raises Unavailable."""

    async def metrics(self) -> bytes:
        """Returns the metrics of the gateway's process in Prometheus' text format."""


class Running(NamedTuple):
    """A running gateway, which is `monitored`, too. `lost` is done when its process ends."""

    gateway: Gateway
    monitored: Monitored
    lost: asyncio.Future[None]
    reload: Reload


class RemoteGateway:
    """Calls a `gateway.exchange.messages.Gateway` in the other process.

    Each call raises Unavailable (`gateway_unavailable`) if that is gone or does not answer.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        return partial(self._call, name)

    def fail(self, request_id: str, outcome: str, sent: bool = False, code: str | None = None) -> None:
        self._link.tell("fail", request_id, outcome, sent, code)

    def note(self, call: Call, outcome: str) -> None:
        self._link.tell("note", call, outcome)

    def disconnected(self, connection: str) -> None:
        self._link.tell("disconnected", connection)

    async def _call(self, name: str, *arguments: object) -> Any:
        try:
            return await self._link.call(name, *arguments)
        except NoReply as failed:
            message = "The gateway's process has stopped; try again once it has restarted."
            if failed.is_silent:
                message = "The gateway's process does not answer; try again."
            raise Unavailable(message, code="gateway_unavailable", retry_after=5) from None

    async def watch(self) -> None:
        """Logs when the process does not answer. Calls fail as long as this runs and it does not."""
        async for is_silent in self._link.silences(SILENCE_SECONDS):
            if is_silent:
                _log.error("the gateway's process does not answer; requests are refused until it does")
            else:
                _log.warning("the gateway's process answers again")


@contextlib.contextmanager
def forked(settings: Settings, use_log: UseLog) -> Iterator[socket.socket | None]:
    """Forks the gateway's process, and waits for its end on exit. Yields the parent's end of the socket pair.

    After a reload, that process calls `use_log`.

    Call it before anything starts a thread or an event loop. Until the listeners handle signals, a stop signal ends
    both processes. Yields None where a process cannot be forked (Windows).
    """
    bound_free_memory()  # here, so that the processes inherit it
    if not hasattr(os, "fork"):
        yield None
        return
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        os._exit(_child(theirs, settings, use_log))
    theirs.close()

    def stop_both(number: int) -> None:
        with contextlib.suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)
            _wait_for(child)
        os._exit(128 + number)

    on_stop(stop_both)
    try:
        yield ours
    finally:
        ours.close()
        _wait_for(child)


@contextlib.asynccontextmanager
async def running(settings: Settings, end: socket.socket | None) -> AsyncIterator[Running]:
    """Starts the gateway at the other end of `end`, or in this process without one.

    Raises SettingsError and GatewayError.
    """
    if end is None:
        async with _local_gateway(settings) as (local, reload):
            yield Running(local, local, asyncio.get_running_loop().create_future(), reload)
        return
    link = await Link.open(end)
    try:
        gateway = RemoteGateway(link)
        await gateway.begin()
        watching = asyncio.create_task(gateway.watch())
        try:
            yield Running(gateway, gateway, link.lost, gateway.reload)
        finally:
            watching.cancel()
    finally:
        link.close()


@contextlib.asynccontextmanager
async def _local_gateway(
    settings: Settings, searches: "Searches | None" = None
) -> AsyncIterator[tuple["Dispatcher", Reload]]:
    # Slow to import, and not needed by the process of the listeners.
    from gateway.api.app import create_app
    from gateway.container import Container
    from gateway.server.dispatcher import Dispatcher
    from gateway.server.first_key import make_first_key

    async with await Container.start(settings, searches) as container:
        dispatcher = Dispatcher(container, create_app(container))
        try:
            if settings.api_key is None and container.keys.empty:
                hints = sys.stderr if settings.log_json else sys.stdout
                await make_first_key(container.keys, settings.data_dir, hints)
            yield dispatcher, container.reload
        finally:
            dispatcher.stop()


def _child(end: socket.socket, settings: Settings, use_log: UseLog) -> int:
    ignore_stop_signals()  # this process ends when its parent does
    _use_batch_scheduling()
    try:
        from gateway.workers.search_processes import SearchProcesses

        searches = SearchProcesses(settings)
        # A model computes without the interpreter's lock most of the time.
        if settings.share_one_core and not searches.loads_models:
            share_one_core()
        run(lambda: _serve(end, settings, searches, use_log))
    except BaseException as error:  # noqa: BLE001 - the last resort; the message of an exception may hold private text
        _log.error("the gateway process failed: %s", type(error).__name__)
        return 1
    finally:
        logging.shutdown()
    return 0


def _use_batch_scheduling() -> None:
    """Sets the batch scheduling policy (Linux), which favours throughput.

    A call then does not preempt the listeners; several are handled in one turn, with warm caches.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


async def _serve(end: socket.socket, settings: Settings, processes: "SearchProcesses", use_log: UseLog) -> None:
    async with contextlib.AsyncExitStack() as stack:
        opening = asyncio.ensure_future(stack.enter_async_context(processes.opened()))
        # While the search processes load, and the listeners import what they need.
        await asyncio.to_thread(lambda: [*map(import_module, _SLOW_IMPORTS)])
        calls: dict[str, Callable[..., Any]] = {}

        async def begin() -> None:
            gateway, reload_container = await stack.enter_async_context(_local_gateway(settings, await opening))
            for name in _CALLS:
                calls[name] = getattr(gateway, name)

            async def reload(changed: Settings) -> int:
                policies = await reload_container(changed)
                use_log(changed)
                return policies

            calls["reload"] = reload
            # All objects so far live as long as the process, so the collector need not scan them.
            trim()
            gc.freeze()
            if settings.detection == "patterns":
                # With the models, it would take memory that they need more.
                use_huge_pages()

        calls["begin"] = begin
        await answer(end, calls, _told)


def _told(error: BaseException) -> Exception:
    if isinstance(error, GatewayError | SettingsError):
        return error
    _log.error("a call failed: %s", type(error).__name__)  # its message may hold private text
    return InternalError("The gateway failed to handle this request; nothing was sent.")


def _wait_for(child: int) -> None:
    deadline = monotonic() + _STOP_SECONDS
    while monotonic() < deadline:
        ended, _ = os.waitpid(child, os.WNOHANG)
        if ended:
            return
        sleep(0.01)
    _log.error("the gateway process did not stop in time and is killed")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
