"""Background tasks of a gateway, which stop with it, and the parts that a reload replaces."""

import asyncio
from pathlib import Path

import pytest

from gateway import container as module
from gateway.config.settings import Settings, SettingsError
from gateway.config.upstreams import UpstreamSettings
from gateway.container import Container
from gateway.errors import GatewayError, Unavailable
from gateway.surfaces.upstream import UpstreamSurface


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


async def test_a_reload_that_fails_changes_nothing_and_one_that_does_not_closes_old_upstreams_later(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = UpstreamSettings(base_url="http://127.0.0.1:9/v1", models=("m",), timeout_seconds=600)
    settings = Settings(data_dir=data_dir, detection="patterns", upstreams={"lab": upstream})
    async with await Container.start(settings) as container:
        parts = vars(container).copy()
        broken = data_dir / "policies"
        broken.mkdir()
        (broken / "own.toml").write_text("id = ")
        for update, says in (
            ({"default_policy": "none"}, "no such policy"),
            ({"default_upstream": "none"}, "default_upstream"),
            ({"upstreams": dict.fromkeys(("a", "b"), upstream)}, "same model name"),
            ({"policies_dir": broken}, "own.toml"),
        ):
            with pytest.raises((SettingsError, GatewayError), match=says):
                await container.reload(settings.model_copy(update=update))
            assert vars(container) == parts
        monkeypatch.setattr(module, "_DETECTION_TURNS", -600 / settings.detection_timeout_seconds)
        old, surface = container.surfaces, container.surfaces.named("lab")
        assert await container.reload(settings) == len(container.policies.list())
        assert container._unused == [old]
        assert container.surfaces.named("lab") is not surface
        while container._unused:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert isinstance(surface, UpstreamSurface)
        assert surface._client.is_closed
        monkeypatch.undo()
        await container.reload(settings)
        (kept,) = container._unused
    last = kept.named("lab")
    assert isinstance(last, UpstreamSurface)
    assert last._client.is_closed, "at the latest with the gateway"
