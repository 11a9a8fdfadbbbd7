"""Which surface a model's name means, and that surfaces are found by being there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.config.upstreams import UpstreamSettings
from gateway.errors import BadRequest, NotFound
from gateway.http.aws_signing import AwsSigner
from gateway.models import Trust
from gateway.surfaces.base import Surface, SurfaceRegistry
from gateway.surfaces.demo import DemoSurface
from gateway.surfaces.upstream import UpstreamSurface
from tests.test_extension import FILES


@dataclass
class Fixed(Surface):
    """A surface of one's own, as small as one can be."""

    id: str
    names: tuple[str, ...] = ()
    trust: Trust = Trust.EXTERNAL

    def models(self) -> tuple[str, ...]:
        return self.names

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        return body


def upstream(name: str, *models: str, **config: Any) -> UpstreamSurface:
    settings = UpstreamSettings(base_url=f"https://{name}.example/v1", models=models or ("*",), **config)
    return UpstreamSurface(name, settings)


def resolved(registry: SurfaceRegistry, model: str) -> tuple[str, str]:
    surface, name = registry.resolve(model)
    return surface.id, name


def test_the_order_of_resolving() -> None:
    registry = SurfaceRegistry(
        [
            DemoSurface(),
            upstream("acme", "gpt-*", "acme-one", default_model="gpt-9"),
            upstream("house", "llama-[0-9]", "*", trust=Trust.LOCAL),
        ]
    )
    assert resolved(registry, "svc-demo") == ("svc-demo", "svc-demo")
    assert resolved(registry, "acme-one") == ("acme", "acme-one")
    assert resolved(registry, "acme") == ("acme", "gpt-9")
    assert resolved(registry, "gpt-5") == ("acme", "gpt-5")
    assert resolved(registry, "llama-3") == ("house", "llama-3")
    assert resolved(registry, "anything") == ("house", "anything")
    assert resolved(registry, "configured-upstream") == ("acme", "gpt-9")


def test_an_upstream_for_all_models_is_asked_last() -> None:
    registry = SurfaceRegistry([upstream("acme"), upstream("house", "llama-*")])
    assert resolved(registry, "llama-3") == ("house", "llama-3")
    assert resolved(registry, "other") == ("acme", "other")


def test_an_upstream_of_that_name_is_the_configured_one() -> None:
    registry = SurfaceRegistry([upstream("acme"), upstream("configured-upstream", default_model="m")])
    assert resolved(registry, "configured-upstream") == ("configured-upstream", "m")


def test_the_default_upstream_takes_the_rest_and_is_the_configured_one() -> None:
    registry = SurfaceRegistry([upstream("acme", "gpt-*"), upstream("house", "one")], default="house")
    assert resolved(registry, "unheard-of") == ("house", "unheard-of")
    assert resolved(registry, "configured-upstream") == ("house", "one")


@pytest.mark.parametrize("model", ["unheard-of", "configured-upstream", "SVC-DEMO"])
def test_a_model_that_no_surface_serves(model: str) -> None:
    registry = SurfaceRegistry([DemoSurface()])
    with pytest.raises(NotFound) as refused:
        registry.resolve(model)
    assert refused.value.code == "model_not_found"
    assert model not in refused.value.message


@pytest.mark.parametrize("model", [None, "", 7, ["svc-demo"]])
def test_values_that_are_no_name(model: object) -> None:
    with pytest.raises(BadRequest):
        SurfaceRegistry([DemoSurface()]).resolve(model)


def test_ambiguous_surfaces_fail_at_start() -> None:
    with pytest.raises(ValueError, match="the same id"):
        SurfaceRegistry([Fixed("a"), Fixed("a")])
    with pytest.raises(ValueError, match="the same model name"):
        SurfaceRegistry([Fixed("a", ("m",)), Fixed("b", ("m",))])
    with pytest.raises(ValueError, match="default"):
        SurfaceRegistry([Fixed("a")], default="b")


@pytest.mark.anyio
async def test_the_models_list() -> None:
    registry = SurfaceRegistry([DemoSurface(), upstream("acme", "gpt-*", "acme-one")], created=1)
    assert await registry.models() == [
        {"id": "svc-demo", "object": "model", "created": 1, "owned_by": "svc"},
        {"id": "acme", "object": "model", "created": 1, "owned_by": "acme"},
        {"id": "acme-one", "object": "model", "created": 1, "owned_by": "acme"},
        {"id": "configured-upstream", "object": "model", "created": 1, "owned_by": "acme"},
    ]
    assert [model["id"] for model in await SurfaceRegistry([DemoSurface()]).models()] == ["svc-demo"]


@pytest.mark.anyio
async def test_one_model() -> None:
    registry = SurfaceRegistry([DemoSurface(), upstream("acme", "gpt-*", "org/one")], created=1)
    listed = await registry.models()
    assert [registry.model(each["id"]) for each in listed] == listed
    assert registry.model("gpt-5") == {"id": "gpt-5", "object": "model", "created": 1, "owned_by": "acme"}
    with pytest.raises(NotFound) as refused:
        registry.model("unheard-of")
    assert refused.value.code == "model_not_found"


def test_whether_a_surface_is_local() -> None:
    assert SurfaceRegistry([Fixed("a", trust=Trust.LOCAL)]).local_available
    assert not SurfaceRegistry([Fixed("a")]).local_available


@pytest.mark.anyio
async def test_every_upstream_of_the_settings_is_a_surface(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-" + "of-the-tests"
    monkeypatch.setenv("HOUSE_KEY", key)
    tables = {
        "house": {
            "base_url": "http://127.0.0.1:9/v1",
            "api_key_env": "HOUSE_KEY",
            "models": ["llama-*"],
            "trust": "local",
        }
    }
    settings = load_settings(upstream="https://api.example/v1", upstream_model="m", upstreams=tables)
    registry = SurfaceRegistry.discover(settings)
    assert [surface.id for surface in registry.surfaces] == ["svc-demo", "configured-upstream", "house"]
    house, name = registry.resolve("llama-3")
    assert isinstance(house, UpstreamSurface)
    assert (name, house.trust) == ("llama-3", Trust.LOCAL)
    assert house.credential == (b"authorization", f"Bearer {key}".encode())
    assert house.seconds == settings.upstream_timeout_seconds
    assert house.endpoint() == "http://127.0.0.1:9/v1/chat/completions"
    assert resolved(registry, "configured-upstream") == ("configured-upstream", "m")
    await registry.aclose()


@pytest.mark.anyio
async def test_a_surface_is_added_by_dropping_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "parrot.py").write_text(FILES["surfaces/parrot.py"])
    registry = SurfaceRegistry.discover(load_settings(), tmp_path)
    surface, _ = registry.resolve("parrot-1")
    assert await surface.complete({"text": "hello"}) == {"reply": "You said: hello"}
    (tmp_path / "parrot_two.py").write_text(FILES["surfaces/parrot.py"])
    with pytest.raises(ValueError, match="the same id"):
        SurfaceRegistry.discover(load_settings(), tmp_path)


def test_discovery_takes_the_default_of_the_settings() -> None:
    settings = load_settings(default_upstream="svc-demo")
    assert resolved(SurfaceRegistry.discover(settings), "anything") == ("svc-demo", "anything")


def test_an_upstream_signs_for_its_own_origin_alone() -> None:
    signer = AwsSigner("id", "secret", None, "us-east-1")
    config = UpstreamSettings(wire="bedrock", base_url="HTTPS://Aws.test", models=("m",))
    surface = UpstreamSurface("aws", config, signer=signer)
    registry = SurfaceRegistry([surface, UpstreamSurface("other", UpstreamSettings(base_url="https://other.test"))])
    assert registry.signs
    assert registry.signing_at("https://AWS.test:443") is surface
    for origin in ("http://aws.test:443", "https://aws.test:8443", "https://other.test:443", "https://x.aws.test:443"):
        assert registry.signing_at(origin) is None
    assert not SurfaceRegistry([]).signs
