"""The gateway's settings: command line over `SVC_*` variables over a TOML file over the defaults here.

`load_settings` is the way in. It refuses what it does not know, and its messages name the setting, never the
value. docs/settings.md is made from this module.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import ByteSize, DirectoryPath, Field, FilePath, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError

from gateway.config.field_types import HeaderNames, HostPatterns, Port, Seconds, SessionSeconds, Size, Strings
from gateway.config.host_patterns import WELL_KNOWN_HOSTS, host_regexes
from gateway.config.locations import BUILTIN_POLICIES, default_folder
from gateway.config.upstreams import UpstreamName, UpstreamSettings, Url

CONFIGURED_UPSTREAM = "configured-upstream"
PREFIX = "SVC_"
# A settings file is copied, mailed and committed; these are not to be in it.
ENVIRONMENT_ONLY = frozenset({"api_key", "upstream_key", "installation_key"})

_file_values: ContextVar[Mapping[str, Any]] = ContextVar("_file_values", default=MappingProxyType({}))
_MIB = 1024 * 1024


class SettingsError(Exception):
    """The settings cannot be used. `problems` are lines of `setting: what is wrong`, without values."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Settings(BaseSettings):
    """Every setting with its default. Frozen; keys are SecretStr and stay out of every repr."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address that gateway and proxy listen on. Beyond loopback, put TLS before it.",
    )
    gateway_port: Port = Field(
        8000, description="Port of the gateway: native endpoints and `/v1` as a base URL. 0: any free one."
    )
    proxy_port: Port = Field(8080, description="Port of the proxy that `HTTPS_PROXY` names. 0: any free one.")
    web: bool = Field(True, description="Run mitmweb, where operators see what crossed.")
    web_host: str = Field("127.0.0.1", min_length=1, description="Address that mitmweb listens on, apart from `host`.")
    web_port: Port = Field(8081, description="Port of mitmweb. 0: any free one.")
    max_flows: int = Field(500, ge=0, le=1_000_000, description="mitmweb keeps at most this many flows; older ones go.")
    modes: Strings = Field(
        (), description="Further mitmproxy modes, such as `socks5@1080`, `local:firefox`, `wireguard`."
    )

    data_dir: Path = Field(
        default_folder("data"),
        description="Folder of the database and the installation's key, readable by its owner only. A gateway that was"
        " installed as a package keeps it, and `certs`, in the user's data folder.",
    )
    certs_dir: Path = Field(default_folder("certs"), description="Folder of the proxy's certificate authority.")
    policies_dir: Path = Field(BUILTIN_POLICIES, description="Folder of the built-in policies (TOML).")

    intercept_hosts: HostPatterns = Field(
        WELL_KNOWN_HOSTS,
        description="Hosts the proxy decrypts and protects; all others are tunnelled untouched. "
        "`host`, `host:port` or a pattern such as `*.openai.azure.com`. Setting it replaces the list.",
    )
    intercept_also: HostPatterns = Field((), description="Hosts to decrypt besides `intercept_hosts`.")

    forward_headers: HeaderNames = Field(
        (),
        description="Request headers that cross to upstreams besides the list of harmless ones, such as `x-session-id`."
        " They are searched as the body is. Credentials and cookies cannot be among them.",
    )

    upstream: Url | None = Field(
        None,
        description=f"Base URL of an upstream named `{CONFIGURED_UPSTREAM}`, for when one is enough.",
    )
    upstream_model: str | None = Field(
        None, description=f"Model it is asked for when a client names `{CONFIGURED_UPSTREAM}` as the model."
    )
    upstream_key: SecretStr | None = Field(None, description=f"Key of `{CONFIGURED_UPSTREAM}`.")
    upstream_ca: FilePath | None = Field(
        None,
        description="PEM file of authorities any upstream may be certified by, besides the public ones.",
    )
    upstreams: dict[UpstreamName, UpstreamSettings] = Field(
        default={}, description="Model providers by name; see below. Asked in this order for a model's name."
    )
    default_upstream: str | None = Field(
        None, description="Upstream for models that no pattern matches. Without it, such a model is refused."
    )
    upstream_timeout_seconds: Seconds = Field(
        600,
        description="How long an upstream, or a host behind the proxy, may take until its answer is whole. Then: 504.",
    )

    shutdown_seconds: Seconds = Field(
        25,
        description="How long calls under way may take to their end when the gateway is stopped; nobody new is let in.",
    )

    default_policy: str = Field("default", min_length=1, description="Policy of requests that name none.")
    detection: Literal["patterns", "full"] = Field(
        "full",
        description="`full`: the recognizers and the model of names. `patterns`: the recognizers alone, which see few"
        " names of people and none of places; many times faster.",
    )
    detection_model: DirectoryPath | None = Field(
        None,
        description="Folder of a token-classification model of your own (`model.onnx`, `tokenizer.json`,"
        " `config.json`), asked as well.",
    )
    detection_service: Url | None = Field(
        None,
        description="Base URL of a Presidio analyzer, asked as well. It gets the texts in clear. When it does not"
        " answer, the request is refused.",
    )
    detection_service_language: str = Field("en", min_length=2, description="Language it is told the texts are in.")
    detection_timeout_seconds: Seconds = Field(
        30,
        description="Longest search for private text in a request, waiting included. After it the request is refused. "
        "With the model of names, new text takes about 10 seconds for each MB.",
    )
    model_threads: int = Field(1, ge=1, le=64, description="Threads that each model of names runs on.")
    workers: int = Field(
        2,
        ge=1,
        le=64,
        description="Threads that search for private text at once; those that wait for a model do not count.",
    )
    search_processes: int | None = Field(
        None,
        ge=0,
        le=64,
        description="Processes beside the gateway's own that search large texts for patterns, each on a processor core"
        " of its own. One takes about 25 MB. Without a number one where `detection` is `patterns`, and none beside the"
        " model of names, which takes most of the time then.",
    )
    queue_limit: int = Field(
        256,
        ge=1,
        le=100_000,
        description="Requests that may wait for them; more are told to come again (503).",
    )

    body_limit_bytes: Size = Field(
        ByteSize(10 * _MIB), description="Largest request body, also after decompression. Above it: 413."
    )
    head_limit_bytes: Size = Field(
        ByteSize(64 * 1024),
        description="Largest head of a request (431 above it) and of an upstream's answer (502); also of trailers.",
    )
    head_fields_limit: int = Field(256, ge=16, le=10_000, description="Header fields that such a head may have.")
    head_timeout_seconds: Seconds = Field(
        30, description="How long a request's head may take, and a pause in its body. Then the connection is closed."
    )
    body_timeout_seconds: Seconds = Field(300, description="How long a request's body may take in all.")
    idle_timeout_seconds: Seconds = Field(
        120, description="How long a connection is kept that waits for its next request."
    )
    max_connections: int = Field(
        2048,
        ge=1,
        le=1_000_000,
        description="Connections of clients at once, also at most half of the open files that the system allows. When"
        " all are in use, the one whose client has been silent longest is closed.",
    )
    max_connections_per_address: int = Field(
        1024, ge=1, le=1_000_000, description="The same for the clients of one address."
    )
    response_limit_bytes: Size = Field(ByteSize(32 * _MIB), description="Largest answer of an upstream. Above it: 502.")
    rate_limit_per_minute: int = Field(
        0, ge=0, le=1_000_000, description="Requests a minute for each key. 0: no limit."
    )
    session_ttl_seconds: SessionSeconds | None = Field(
        None,
        description="Lifetime of a vault session that asks for none, where its policy's is longer.",
    )
    session_max_ttl_seconds: SessionSeconds = Field(
        86400,
        description="Longest lifetime of a vault session. A policy's `max_ttl_seconds` counts where it is shorter.",
    )
    session_max_values: int = Field(
        100_000,
        ge=1,
        le=100_000,
        description="Values that one vault session may hold. A policy's `max_values` counts where it is smaller.",
    )

    api_key: SecretStr | None = Field(
        None, description="A key accepted with the operator's rights, besides those in the database."
    )
    installation_key: SecretStr | None = Field(
        None,
        description="Secret that the placeholders of chats are derived from, 32 characters or more, the same "
        "wherever conversations are shared. Without it, a random one is kept in `data_dir`.",
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe message that is logged."
    )
    log_json: bool = Field(False, description="Log one JSON object a line.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """First wins: what the caller passes (the command line), the environment, the file."""
        file = InitSettingsSource(settings_cls, init_kwargs=dict(_file_values.get()))
        return init_settings, env_settings, file

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        ports = [self.gateway_port, self.proxy_port, *([self.web_port] if self.web else [])]
        taken = [port for port in ports if port]
        if len(set(taken)) < len(taken):
            raise ValueError("gateway_port, proxy_port and web_port must differ")
        if (self.session_ttl_seconds or 0) > self.session_max_ttl_seconds:
            raise ValueError("session_ttl_seconds is above session_max_ttl_seconds")
        if self.upstream and CONFIGURED_UPSTREAM in self.upstreams:
            raise ValueError(f"upstream and upstreams.{CONFIGURED_UPSTREAM} are the same thing: set one of them")
        if self.installation_key and len(self.installation_key.get_secret_value()) < 32:
            raise ValueError("installation_key needs 32 characters or more")
        return self

    @property
    def all_upstreams(self) -> dict[str, UpstreamSettings]:
        """The named upstreams, with the one of `upstream` first. `upstream_ca` fills in for `ca_file`."""
        found = dict(self.upstreams)
        if self.upstream is not None:
            short = UpstreamSettings(base_url=self.upstream, default_model=self.upstream_model)
            found = {CONFIGURED_UPSTREAM: short, **found}
        return {
            name: each.model_copy(update={"ca_file": each.ca_file or self.upstream_ca}) for name, each in found.items()
        }

    @property
    def longest_timeout(self) -> float:
        """Seconds that some upstream may take."""
        return max(self.upstream_timeout_seconds, *(each.timeout_seconds or 0 for each in self.upstreams.values()), 0)

    @property
    def upstream_ca_files(self) -> tuple[Path, ...]:
        """Every file of further authorities, once: for what checks all upstreams against one set."""
        files = [self.upstream_ca, *(each.ca_file for each in self.upstreams.values())]
        return tuple(dict.fromkeys(file for file in files if file is not None))

    @property
    def intercept_regexes(self) -> tuple[str, ...]:
        """Anchored expressions over `host:port`, as mitmproxy's `allow_hosts` takes them."""
        return host_regexes((*self.intercept_hosts, *self.intercept_also))

    def check_upstreams(self) -> None:
        """Whether models can be asked. Only who asks them needs to know: an upstream may be an option of `serve` alone.

        Raises SettingsError with all problems found.
        """
        problems: list[str] = []
        if self.default_upstream and self.default_upstream not in self.all_upstreams:
            given = f"; `{CONFIGURED_UPSTREAM}` is that of `--upstream URL` or the setting `upstream`"
            hint = given if self.default_upstream == CONFIGURED_UPSTREAM else ""
            problems.append(f"default_upstream: it names none of the upstreams{hint}")
        for name in self.upstreams:
            try:
                self.upstream_api_key(name)
            except SettingsError as error:
                problems += error.problems
        if problems:
            raise SettingsError(*problems)

    def upstream_api_key(self, name: str) -> SecretStr | None:
        """The key sent to the upstream `name`. Raises SettingsError when its variable is not set."""
        if name == CONFIGURED_UPSTREAM and self.upstream is not None:
            return self.upstream_key
        variable = self.upstreams[name].api_key_env
        if variable is None:
            return None
        if not (key := os.environ.get(variable)):
            raise SettingsError(f"upstreams.{name}.api_key_env: the variable {variable} is not set")
        return SecretStr(key)

    def make_data_dir(self) -> Path:
        """The data folder, made when missing, closed to everybody but its owner."""
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.data_dir.stat().st_mode & 0o077:
            self.data_dir.chmod(0o700)
        return self.data_dir


def load_settings(config: Path | None = None, **command_line: object) -> Settings:
    """The settings in force. `command_line` holds settings by name and wins; None means not given.

    `config` (else the variable SVC_CONFIG) names a TOML file. Raises SettingsError with all problems found.
    """
    named = config or os.environ.get("SVC_CONFIG")
    values = _read_file(Path(named)) if named else {}
    given = {name: value for name, value in command_line.items() if value is not None}
    token = _file_values.set(values)
    try:
        settings = Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False, include_context=False)
        raise SettingsError(*(_problem(each["loc"], each["type"], each["msg"]) for each in details)) from None
    except SourceError:
        # Its message and its cause may quote the variable.
        raise SettingsError(f"a {PREFIX}* variable with a table in it is not valid JSON") from None
    finally:
        _file_values.reset(token)
    _refuse_unknown_variables(settings)
    return settings


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"the settings file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        # tomllib's message may quote the file; where it stopped is enough.
        place = re.search(r"\(at [^()]*\)", str(error))
        raise SettingsError(f"the settings file {path} is not valid TOML {place[0] if place else ''}".strip()) from None
    secrets = sorted(ENVIRONMENT_ONLY & values.keys())
    if secrets:
        raise SettingsError(*(f"{name}: set it as {PREFIX}{name.upper()}, not in a file" for name in secrets))
    return values


def _refuse_unknown_variables(settings: Settings) -> None:
    known = set(Settings.model_fields) | {"config"}
    tables = {"upstreams"}
    keys = {upstream.api_key_env for upstream in settings.upstreams.values()}
    problems = []
    for variable in sorted(os.environ):
        field, *path = variable.removeprefix(PREFIX).lower().split("__")
        fits = field in known and (not path or field in tables)
        if variable.startswith(PREFIX) and variable not in keys and not fits:
            problems.append(_unknown(variable, [PREFIX + name.upper() for name in sorted(known)]))
    if problems:
        raise SettingsError(*problems)


def _problem(place: tuple[int | str, ...], kind: str, message: str) -> str:
    names = [str(part) for part in place if part != "[key]"]
    if kind == "extra_forbidden":
        model = Settings if len(names) == 1 else UpstreamSettings
        return _unknown(".".join(names), sorted(model.model_fields))
    text = message.removeprefix("Value error, ")
    return f"{'.'.join(names)}: {text}" if names else text


def _unknown(name: str, known: list[str]) -> str:
    close = get_close_matches(name.rsplit(".", maxsplit=1)[-1], known, n=1)
    return f"{name}: there is no such setting" + (f"; did you mean {close[0]}?" if close else "")
