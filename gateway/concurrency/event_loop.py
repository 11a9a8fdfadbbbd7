"""The event loop: uvloop where there is one, which writes what belongs together in one go; asyncio's own on Windows."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

if sys.platform == "win32":
    Loop: Callable[[], asyncio.AbstractEventLoop] | None = None
else:
    import uvloop

    _TAKEN = {"name", "context"}

    class Loop(uvloop.Loop):
        """uvloop hands task factories arguments that the eager one of older Pythons (mitmproxy's choice) refuses."""

        def set_task_factory(self, factory: Any) -> None:
            def accepting(loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> asyncio.Future[Any]:
                known = {name: value for name, value in given.items() if name in _TAKEN and value is not None}
                task: asyncio.Future[Any] = factory(loop, coro, **known)
                return task

            super().set_task_factory(None if factory is None else accepting)


def run[T](main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main())
