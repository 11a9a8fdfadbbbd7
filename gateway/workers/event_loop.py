"""Selects the event loop: uvloop, which batches writes, or asyncio's own on Windows."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

if sys.platform == "win32":
    Loop: Callable[[], asyncio.AbstractEventLoop] | None = None
else:
    import uvloop

    _SUPPORTED = {"name", "context"}

    class Loop(uvloop.Loop):
        """Drops task arguments of uvloop that mitmproxy's eager task factory rejects on older Pythons."""

        def set_task_factory(self, factory: Any) -> None:
            def create_task(loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> asyncio.Future[Any]:
                known = {name: value for name, value in given.items() if name in _SUPPORTED and value is not None}
                task: asyncio.Future[Any] = factory(loop, coro, **known)
                return task

            super().set_task_factory(None if factory is None else create_task)


def run[T](main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to completion."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main())
