"""How one model provider is described in the settings."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FilePath

from gateway.config.field_types import Seconds, Strings
from gateway.models import Trust


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        # urllib's own message quotes the URL.
        usable = False
    if not usable:
        raise ValueError("write the base URL as https://host/v1 (or http://)")
    if parts.username or parts.password:
        raise ValueError("credentials do not belong in the URL; name their variable in api_key_env")
    if parts.query or parts.fragment:
        raise ValueError("a base URL has no query and no fragment")
    return value.rstrip("/")


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", value) or value == "svc-demo":
        raise ValueError("a name has lower-case letters, digits, dots and hyphens; svc-demo is taken")
    return value


Url = Annotated[str, AfterValidator(_url)]
UpstreamName = Annotated[str, AfterValidator(_name)]


class UpstreamSettings(BaseModel):
    """One model provider (`[upstreams.NAME]` in the file, `SVC_UPSTREAMS__NAME__…` in the environment)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    base_url: Url = Field(
        description="Where its chat-completions API lies, as an SDK would be given it: `https://host/v1`."
    )
    api_key_env: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Name of the variable that holds its key. Without it, no credential of ours is sent.",
    )
    models: Strings = Field(("*",), min_length=1, description="Model names that go to it; `*` stands for anything.")
    default_model: str | None = Field(
        None, description="The model it is asked for when a client names the upstream instead of a model."
    )
    trust: Trust = Field(
        Trust.EXTERNAL,
        description="`local` when it lies inside your own trust boundary, otherwise `external`.",
    )
    timeout_seconds: Seconds | None = Field(
        None, description="How long it may take to answer. Without it, `upstream_timeout_seconds`."
    )
    ca_file: FilePath | None = Field(
        None,
        description="PEM file of further authorities for its certificate. Without it, `upstream_ca`.",
    )
