"""The event loop: uvloop where it is installed, which writes what belongs together in one go."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import uvloop


class Loop(uvloop.Loop):
    """uvloop hands task factories arguments that the eager one of older Pythons (mitmproxy's choice) does not take."""

    def set_task_factory(self, factory: Any) -> None:
        def accepting(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **given: Any) -> Any:
            return factory(loop, coro, **{name: value for name, value in given.items() if name in {"name", "context"} and value is not None})

        super().set_task_factory(None if factory is None else accepting)


def run[T](main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main())
