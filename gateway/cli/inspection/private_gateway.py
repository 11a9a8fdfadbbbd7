"""Starts a gateway for one program: on free ports of loopback, with a store of its own in a temporary folder.

It has the settings, the certificate authority, the installation key, the custom policies and the corrections of the
installation.
"""

import asyncio
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import orjson

from gateway.auth.api_keys import KeyRing
from gateway.cli.inspection.records import Event
from gateway.config.installation_key import FILE as KEY_FILE
from gateway.config.settings import Settings, SettingsError
from gateway.errors import Unavailable
from gateway.models import Scope
from gateway.store import Repositories, StoreError, open_read_only, open_store, store_exists
from gateway.store.rows import PolicyRow

# It is in a package above this one, which knows mitmproxy.
_PROGRAM = "import sys; sys.path[:] = {path}; from addons.inspected_gateway import main; main()"
type Copy = Callable[[Repositories], None]

_START_SECONDS, _STOP_SECONDS = 180.0, 30.0
_CALLS_SECONDS = 3.0
_MORE_STARTS = 2
_LOG_LINES = 5


class PrivateGateway:
    """The running process. If it ends by itself, `is_lost` is set and `lost` is called; `take` gets each event."""

    def __init__(self, settings: Settings, *, keeps_answers: bool, take: Callable[[Event], object]) -> None:
        self.settings = settings
        self.lost: Callable[[], object] = lambda: None
        self.ended_well = False
        self._take = take
        self._stopping = False
        self._first: Event | None = None
        self._keeps_answers = keeps_answers
        self._spawn()

    def _spawn(self) -> None:
        self.is_lost = False
        self._started = threading.Event()
        with (self.settings.data_dir / "output.log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and nothing that was received
                [sys.executable, "-I", "-c", _PROGRAM.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # Ctrl-C is for the program.
                start_new_session=True,
            )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(pickle.dumps((self.settings, self._keeps_answers)))
            self._process.stdin.flush()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_until_ready(self) -> Settings:
        """Waits until it serves. Returns its settings with the ports. Raises SettingsError with what went wrong."""
        for _ in range(_MORE_STARTS):
            self._started.wait(_START_SECONDS)
            if self._first is not None or not self._started.is_set():
                break
            # Another program may have taken a port that was free.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)
            self._end()
            self._spawn()
        self._started.wait(_START_SECONDS)
        first = self._first
        if first is None:
            raise SettingsError("the gateway for this program did not start", *_last_lines(self.settings.data_dir))
        if first["event"] != "ready":
            raise SettingsError(*first["problems"])
        gateway, proxy = (*first["ports"], None)[:2]
        return self.settings.model_copy(update={"gateway_port": gateway, "proxy_port": proxy or 0})

    def stop(self) -> None:
        """Has it end, and waits until every event has been taken."""
        self._stopping = True
        self._end()

    def _end(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_STOP_SECONDS)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as events:
            self._take_all(events)
        self._started.set()
        if not self._stopping:
            # First, since `lost` may be replaced at this moment, by a caller that then looks at it.
            self.is_lost = True
            self.lost()

    def _take_all(self, events: IO[bytes]) -> None:
        for line in events:
            event = orjson.loads(line)
            if self._first is None:
                self._first = event
                self._started.set()
            self.ended_well |= event["event"] == "end"
            self._take(event)


@contextmanager
def private_gateway(
    settings: Settings, *, policy: str | None, keeps_answers: bool, take: Callable[[Event], object]
) -> Iterator[tuple[PrivateGateway, str, Sequence[str]]]:
    """Starts the process, and removes all of its files at the end.

    Yields it with a gateway key of its own, and notes on what of the installation could not be read.
    Raises SettingsError, StoreError and OSError.
    """
    with TemporaryDirectory(prefix="privacy-gateway-inspect-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy, notes = _installed(settings, folder)
        own = settings.model_copy(update=_changes(settings, folder, policy))
        key = asyncio.run(_make_store(folder, copy))
        gateway = PrivateGateway(own, keeps_answers=keeps_answers, take=take)
        try:
            yield gateway, key, notes
        finally:
            gateway.stop()


def _changes(settings: Settings, folder: Path, policy: str | None) -> dict[str, Any]:
    """Returns the settings that differ from those of the installation."""
    off: dict[str, Any] = {"web": False, "operations_port": None, "modes": (), "proxy_key": False, "accept_risks": ()}
    off |= {"tls_certificate": None, "tls_key": None, "receipts_keep": None, "api_key": None, "signing_key": None}
    off |= {"database": None, "database_password": None}
    ports = {"gateway_port": 0, "proxy_port": 0, "proxy": True, "host": "127.0.0.1", "proxy_host": "127.0.0.1"}
    files = {"data_dir": folder, "log_file": folder / "gateway.log", "shutdown_seconds": _CALLS_SECONDS}
    return {**off, **ports, **files, "default_policy": policy or settings.default_policy}


def _installed(settings: Settings, folder: Path) -> tuple[Copy, list[str]]:
    """Links the installation's key into `folder`. Returns what else applies, and notes on what cannot be read."""
    key = settings.data_dir.absolute() / KEY_FILE
    has_key = settings.installation_key is not None
    if not has_key and os.access(key, os.R_OK):
        # Without it, placeholders differ from those of the installation.
        with suppress(OSError):
            (folder / KEY_FILE).symlink_to(key)
            has_key = True
    if not store_exists(settings.data_dir, settings.postgresql):
        return lambda _: None, []
    try:
        with open_read_only(settings.data_dir, settings.postgresql) as store:
            return store.read(lambda stored: _copy_of(stored, with_corrections=has_key)), []
    except (StoreError, Unavailable):
        lost = "its custom policies, and the values that were allowed and denied, do not apply"
        return lambda _: None, [f"The store in {settings.data_dir} cannot be read: {lost}."]


def _copy_of(stored: Repositories, *, with_corrections: bool) -> Copy:
    """Returns what writes custom policies and, since they are sealed under the key, the corrections to a new store."""
    documents = [(json.loads(text), text) for _, text in stored.policies.after(0)]
    retired = stored.policies.retired()
    head, corrections = stored.corrections.head(), stored.corrections.all()

    def write(new: Repositories) -> None:
        for each, text in documents:
            if not each["builtin"]:
                new.policies.add(PolicyRow(each["id"], each["version"], each["hash"], False, text))
        for id, version in retired.items():
            new.policies.retire(id, version)
        if with_corrections and corrections:
            new.corrections.set_head(head)
            new.corrections.add(corrections)

    return write


async def _make_store(folder: Path, copy: Copy) -> str:
    """Makes the store, with one gateway key, whose secret it returns."""
    with closing(open_store(folder)) as store:
        await store.write(copy)
        secret, _ = await KeyRing(store).create("inspect", Scope.CLIENT)
        return secret


def _last_lines(folder: Path) -> list[str]:
    """Returns the end of what the process wrote."""
    written = [file.read_text("utf-8", "replace") for file in sorted(folder.glob("*.log"))]
    return [line for text in written for line in text.splitlines()[-_LOG_LINES:]]
