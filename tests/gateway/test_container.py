"""Background tasks of a gateway, which stop with it."""

import asyncio
from pathlib import Path

import pytest

from gateway import container as module
from gateway.config.settings import Settings
from gateway.container import Container
from gateway.errors import Unavailable


async def test_a_store_that_fails_once_does_not_end_the_purging(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PURGE_SECONDS", 0.0)
    purged, failures = asyncio.Event(), [Unavailable("The disk is full.")]

    async def purge() -> int:
        if failures:
            raise failures.pop()
        purged.set()
        return 0

    async with await Container.start(Settings(data_dir=data_dir, detection="patterns")) as container:
        monkeypatch.setattr(container.vault, "purge", purge)
        async with asyncio.timeout(10):
            await purged.wait()
