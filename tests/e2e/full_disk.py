"""A disk that is full for a while, as far as a running gateway can tell."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.server import Running


@contextmanager
def full_disk(running: Running) -> Iterator[None]:
    """Has every write of the store fail: the gateway's process may not make its write-ahead log larger than it is."""
    (child,) = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()[:1]
    size = (running.data / "gateway.db-wal").stat().st_size
    before = resource.prlimit(int(child), resource.RLIMIT_FSIZE)
    resource.prlimit(int(child), resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(int(child), resource.RLIMIT_FSIZE, before)
