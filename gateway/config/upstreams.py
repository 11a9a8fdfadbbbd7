"""Defines the settings of one upstream."""

import os
import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FilePath, model_validator

from gateway.config.field_types import Proxy, Seconds, Strings
from gateway.config.listener_addresses import is_loopback
from gateway.config.secret_references import header_secret, resolve
from gateway.http.aws_signing import AwsSigner, region_of
from gateway.models import Family, Trust


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        # urllib's message quotes the URL.
        usable = False
    if not usable:
        raise ValueError("write the base URL as https://host/v1 (or http://)")
    if parts.username or parts.password:
        raise ValueError("remove the credentials from the URL; put the key in a variable and name it in api_key_env")
    if parts.query or parts.fragment:
        raise ValueError("remove the query and the fragment from the base URL")
    return value.rstrip("/")


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", value) or value == "svc-demo":
        raise ValueError(
            "a name consists of lower-case letters, digits, dots, hyphens and underscores; svc-demo is reserved"
        )
    return value


def host_and_port(url: str) -> tuple[str, int]:
    """Returns the host of a checked base URL, and its port."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


Url = Annotated[str, AfterValidator(_url)]
UpstreamName = Annotated[str, AfterValidator(_name)]


class UpstreamSettings(BaseModel):
    """One model provider (`[upstreams.NAME]` in the file, `SVC_UPSTREAMS__NAME__…` in the environment)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)

    base_url: Url
    """Base URL of its API, as you would give it to an SDK: `https://host/v1` for OpenAI's."""
    wire: Family = "openai"
    """The API it speaks, of OpenAI, Anthropic, Gemini, Amazon Bedrock, Ollama or Cohere. It serves no other calls."""
    api_key_env: str | None = Field(None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """Environment variable that holds its API key. If unset, the gateway sends no key of its own."""
    api_key: str | None = Field(None, pattern=r"^(file|env):")
    """Where its API key is instead: `file:PATH`, such as a secret that is mounted, or `env:NAME`."""
    key_header: Literal["authorization", "x-api-key", "api-key", "x-goog-api-key"] | None = None
    """Header that takes its key, if not that of its API: `api-key` for deployments of Azure, `authorization` for a
    bearer token."""
    aws_access_key_id: str | None = Field(None, pattern=r"^(file|env):")
    """Where the id of an AWS access key is, with which the gateway signs requests to Amazon Bedrock: `file:PATH` or
    `env:NAME`. Only gateway keys made with `keys create --aws-upstream` may use it."""
    aws_secret_access_key: str | None = Field(None, pattern=r"^(file|env):")
    """Where the secret of that key is."""
    aws_session_token: str | None = Field(None, pattern=r"^(file|env):")
    """Where the session token is that belongs to temporary credentials."""
    aws_region: str | None = Field(None, pattern=r"^[a-z]{2}(-[a-z]+)+-\d+$")
    """AWS region, if the host of `base_url` does not name it."""
    models: Strings = Field(("*",), min_length=1)
    """Names of the models it serves. `*` matches anything."""
    default_model: str | None = None
    """Model to request when a client names the upstream instead of a model."""
    trust: Trust = Trust.EXTERNAL
    """`local` if it is inside your own trust boundary, otherwise `external`."""
    timeout_seconds: Seconds | None = None
    """Seconds it may take to answer. Default: `upstream_timeout_seconds`."""
    ca_file: FilePath | None = None
    """PEM file of additional certificate authorities for it. Default: `upstream_ca`."""
    proxy: Proxy | None = None
    """Proxy through which it is reached, as `upstream_proxy`, which it overrides. `direct` or empty: none."""
    proxy_credentials: str | None = Field(None, pattern=r"^(file|env):")
    """Where that proxy's `user:password` is: `file:PATH` or `env:NAME`."""

    @model_validator(mode="after")
    def _check_path(self) -> Self:
        if self.wire == "bedrock" and self.base_url.endswith("/model"):
            raise ValueError("remove /model from the end of base_url, since the path of each call begins with it")
        return self

    @model_validator(mode="after")
    def _check_aws(self) -> Self:
        given = (self.aws_access_key_id, self.aws_secret_access_key)
        if given == (None, None) and (self.aws_session_token, self.aws_region) == (None, None):
            return self
        if None in given:
            raise ValueError("set both aws_access_key_id and aws_secret_access_key, or none of the settings aws_…")
        if self.wire != "bedrock":
            raise ValueError('AWS credentials are for upstreams with wire = "bedrock"')
        if (self.api_key, self.api_key_env) != (None, None):
            raise ValueError("set either an API key or AWS credentials, since a request has one of them")
        host, _ = host_and_port(self.base_url)
        named = region_of(host)
        if named is None and self.aws_region is None:
            raise ValueError("set aws_region, since the host of base_url does not name a region")
        if named is not None and self.aws_region not in {None, named}:
            raise ValueError("aws_region is another region than the host of base_url names; remove or correct one")
        if self.base_url.startswith("http:") and not is_loopback(host):
            raise ValueError("base_url must begin with https:// where AWS credentials sign, unless it is this machine")
        return self

    @property
    def signs(self) -> bool:
        """Whether its requests are signed with AWS credentials."""
        return self.aws_access_key_id is not None

    def signer(self) -> AwsSigner | None:
        """Returns what signs its requests, None without AWS credentials. Raises ValueError as `key` does."""
        if self.aws_access_key_id is None:
            return None
        found: dict[str, str | None] = {}
        for name in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token"):
            reference = getattr(self, name)
            try:
                found[name] = None if reference is None else header_secret(str(resolve(reference)))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        key_id, secret = found["aws_access_key_id"] or "", found["aws_secret_access_key"] or ""
        region = region_of(host_and_port(self.base_url)[0]) or self.aws_region or ""
        return AwsSigner(key_id, secret, found["aws_session_token"], region)

    def key(self) -> str | None:
        """Returns its API key, None without one. Raises ValueError if it is not where the settings say."""
        name = "api_key" if self.api_key is not None else "api_key_env"
        try:
            if self.api_key is not None:
                return header_secret(str(resolve(self.api_key)))
            if self.api_key_env is None:
                return None
            if not (key := os.environ.get(self.api_key_env)):
                raise ValueError(f"the variable {self.api_key_env} is not set")
            return header_secret(key)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


def _one_signs(upstreams: dict[str, UpstreamSettings]) -> dict[str, UpstreamSettings]:
    signing = [(host_and_port(each.base_url), name) for name, each in upstreams.items() if each.signs]
    if twice := sorted(name for place, name in signing if [host for host, _ in signing].count(place) > 1):
        names = " and ".join(twice)
        raise ValueError(f"{names} have AWS credentials for the same host in base_url; keep those of one")
    return upstreams


Upstreams = Annotated[dict[UpstreamName, UpstreamSettings], AfterValidator(_one_signs)]
