"""The process of a gateway that `inspect` has started, for one program: it tells its parent what is sent.

It gets its settings through standard input, and ends with that. It writes events to standard output, one JSON object a
line. Its data folder is removed when it ends, however the parent has ended.
"""

import os
import pickle
import shutil
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from addons.logs import set_up_logging, use_log
from gateway.config.settings import Settings, SettingsError
from gateway.server.gateway_process import forked
from gateway.workers.event_loop import run


def main() -> None:
    """Runs the gateway. Called by `gateway/cli/inspection/private_gateway.py`."""
    # The greeting, and whatever else prints to standard output, goes to the log.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    settings: Settings
    settings, keeps_answers = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the parent process  # nosec B301
    events = Events(out)
    try:
        set_up_logging(settings.log_level, json_lines=False, file=settings.log_file)
        with forked(settings, use_log) as end:
            # The gateway's process, which is forked off, needs neither.
            from addons.server import serve  # noqa: PLC0415
            from addons.witness import Observer  # noqa: PLC0415

            async def served() -> int:
                threading.Thread(target=partial(_end_with_parent, settings.data_dir, events), daemon=True).start()
                return await serve(settings, end, lambda: settings, Observer(events, keeps_answers))

            run(served)
    except SettingsError as error:
        events({"event": "failed", "problems": error.problems})
    finally:
        # A parent that lives reads the log, and removes it.
        if events.orphaned:
            shutil.rmtree(settings.data_dir, ignore_errors=True)


class Events:
    """Writes events to a pipe. `served` tells whether `ready` was one, `orphaned` whether the parent has ended."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.served = self.orphaned = False

    def __call__(self, event: dict[str, Any]) -> None:
        self._out.write(orjson.dumps(event) + b"\n")
        self._out.flush()
        self.served |= event["event"] == "ready"


def _end_with_parent(folder: Path, events: Events) -> None:
    """Ends this process once standard input does: in order if it serves, else at once."""
    sys.stdin.buffer.read()
    events.orphaned = True
    if not events.served:
        shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
