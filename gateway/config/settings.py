"""Defines the settings. docs/settings.md is generated from this module; `gateway.config.loading` reads them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, Self

from pydantic import ByteSize, DirectoryPath, Field, FilePath, SecretStr, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from gateway.config.database_url import Database
from gateway.config.field_types import (
    DatabaseUrl,
    Destinations,
    HeaderNames,
    HeaderSecret,
    HostNames,
    HostPatterns,
    Kept,
    Listeners,
    Networks,
    NoProxy,
    OperatorTokens,
    Port,
    Proxy,
    ProxyCredentials,
    Risks,
    Seconds,
    Secret,
    SessionSeconds,
    Size,
    Strings,
)
from gateway.config.foreign_variables import EnvironmentSource
from gateway.config.host_patterns import WELL_KNOWN_HOSTS, host_regexes
from gateway.config.locations import BUILTIN_POLICIES, default_folder
from gateway.config.outbound_proxy import OutboundProxies, outbound_proxies
from gateway.config.private_files import check_private
from gateway.config.settings_file import ENVIRONMENT_ONLY, PREFIX, SettingsError, file_values
from gateway.config.upstreams import Upstreams, UpstreamSettings, Url
from gateway.http.aws_signing import AwsSigner

__all__ = ["CONFIGURED_UPSTREAM", "ENVIRONMENT_ONLY", "PREFIX", "Settings", "SettingsError"]

CONFIGURED_UPSTREAM = "configured-upstream"
_MIB = 1024 * 1024


class Settings(BaseSettings):
    """All settings with their defaults. Frozen. Keys are SecretStr, which keeps them out of reprs."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    host: str = Field("127.0.0.1", min_length=1)
    """Address that the gateway listens on. For any but loopback, set `tls_certificate`."""
    accept_risks: Risks = ()
    """Risks of listening beyond this machine: `plain_http` (texts and keys without TLS), `open_proxy` (a proxy without
    `proxy_key`), `public_demo` (no upstream but the demo), `public_mitmweb`. Others prevent the start."""
    tls_certificate: Path | None = None
    """PEM file of the listeners' certificate and its chain ([TLS](operating.md#tls)). They refuse plain HTTP then."""
    tls_key: Path | None = None
    """PEM file of the certificate's private key, without a passphrase, readable by its owner only."""
    tls_listeners: Listeners = ("gateway", "proxy", "web", "operations")
    """Listeners that use the certificate. `proxy` includes the `modes` `regular` and `upstream`."""
    gateway_port: Port = 8000
    """Port of the gateway: native endpoints and `/v1` as a base URL. 0: any free port."""
    proxy: bool = True
    """Run the proxy. `false` does not affect `modes`."""
    proxy_host: str = Field("127.0.0.1", min_length=1)
    """Address that the proxy listens on. Independent of `host`."""
    proxy_port: Port = 8080
    """Port of the proxy, for `HTTPS_PROXY`. 0: any free port."""
    proxy_key: bool = False
    """Require a gateway key of proxy clients, also in `modes`: `HTTPS_PROXY=http://key:KEY@host:8080`. Without one:
    407. Modes that cannot ask for a key are refused, except `local`."""
    proxy_private_destinations: Destinations = ()
    """Destinations on this machine and in private networks that clients on other machines may reach through the proxy:
    `host`, `host:port`, an IP address or a network such as `10.1.0.0/16`, also with a port (`[fd00::/8]:443`). Others
    are refused with 403. Clients on this machine may reach all."""
    web: bool = True
    """Run mitmweb, where operators inspect protected requests."""
    web_host: str = Field("127.0.0.1", min_length=1)
    """Address that mitmweb listens on. Independent of `host`."""
    web_port: Port = 8081
    """Port of mitmweb. 0: any free port."""
    web_names: HostNames = ()
    """Names by which browsers reach mitmweb, which answers only to them, `web_host`, loopback and the certificate's."""
    web_tokens: OperatorTokens = Field(default={})
    """Tokens with which operators open mitmweb, by name: `{anna = "env:ANNA_TOKEN"}`. Each has at least 16 characters.
    The receipts of edits name the operator. Without any, mitmweb has one token, which is new at each start."""
    playground: bool = True
    """Serve [the playground](playground.md) at `/playground/`, without a key, and link to it from `/`."""
    operations_port: Port | None = None
    """Port of a listener that has nothing but `/metrics`, `/livez` and `/readyz`, without a key
    ([metrics](operating.md#metrics)). 0: any free port. If unset, there is none."""
    operations_host: str = Field("127.0.0.1", min_length=1)
    """Address that this listener listens on. Independent of `host`."""
    max_flows: int = Field(500, ge=0, le=1_000_000)
    """Maximum number of flows in mitmweb. The oldest are dropped."""
    modes: Strings = ()
    """Additional mitmproxy modes, such as `socks5@127.0.0.1:1080`, `local:firefox`, `wireguard`."""

    data_dir: Path = default_folder("data")
    """Folder of the database and the installation's key, readable by its owner only. A gateway installed as a package
    keeps `data` and `certs` in the user's data folder."""
    database: DatabaseUrl | None = None
    """PostgreSQL database of [several machines](operating.md#several-machines): `postgresql://user@host/name`."""
    database_password: Secret | None = None
    """Password for `database`. If unset, libpq looks for one in its own files, such as `~/.pgpass`."""
    certs_dir: Path = default_folder("certs")
    """Folder of the proxy's certificate authority."""
    policies_dir: Path = BUILTIN_POLICIES
    """Folder of the built-in policies (TOML)."""

    intercept_hosts: HostPatterns = WELL_KNOWN_HOSTS
    """Hosts the proxy decrypts and protects. It tunnels all others untouched. `host`, `host:port` or a pattern such as
    `*.openai.azure.com`. Replaces the default list."""
    intercept_also: HostPatterns = ()
    """Hosts to decrypt in addition to `intercept_hosts`."""
    contained_hosts: HostPatterns = ()
    """Hosts to which the proxy tunnels for programs that `exec --contain` runs
    ([no way around](clients.md#no-way-around)), in the form of `intercept_hosts`. They reach no others but those that
    are decrypted. A listed host gets what the program sends **in clear**; many that serve packages also take them. A
    host on this machine or in a private network has to be listed without a wildcard, best with its port."""
    unprotected_hosts: Literal["refuse", "tunnel"] = "refuse"
    """How the proxy treats known hosts of models that it does not protect, such as Cursor's ([the
    list](clients.md#hosts-that-are-refused)): `refuse` with 403, or `tunnel` them untouched. Hosts that are intercepted
    are not concerned."""

    forward_headers: HeaderNames = ()
    """Request headers sent to every upstream besides those that [the rule](wires.md#which-headers-are-sent) sends, such
    as `x-team`. They are searched as the body is. Credentials, cookies and ids of accounts cannot be among them."""

    upstream: Url | None = None
    """Base URL of an upstream named `configured-upstream`, if one upstream is enough."""
    upstream_model: str | None = None
    """Model to request when a client names `configured-upstream` as the model."""
    upstream_key: HeaderSecret | None = None
    """API key for `configured-upstream`."""
    upstream_ca: FilePath | None = None
    """PEM file of certificate authorities to trust for every upstream, in addition to the public ones."""
    upstreams: Upstreams = Field(default={})
    """Model providers by name; see below. The first whose `models` match a model's name serves it."""
    default_upstream: str | None = None
    """Upstream for models that no pattern matches. If unset, the gateway refuses such a model."""
    upstream_timeout_seconds: Seconds = 600
    """Seconds until the complete answer of an upstream, or of a proxied host. After that: 504."""

    upstream_proxy: Proxy | None = None
    """Proxy through which both listeners reach other hosts ([how](operating.md#behind-a-corporate-proxy)):
    `http://host:port`, `https://host:port`, or `environment` for that of `HTTPS_PROXY` and `NO_PROXY`."""
    upstream_proxy_credentials: ProxyCredentials | None = None
    """The `user:password` for `upstream_proxy`, which sends them as `Basic`."""
    no_proxy: NoProxy = ()
    """Hosts that are reached directly: `example.com` with all names below it, `.example.com` for those alone, addresses
    and networks, each also with a port; `*` for all. `localhost` and loopback addresses always are."""

    shutdown_seconds: Seconds = 25
    """Seconds that requests in progress may take to finish when the gateway stops. New ones are refused."""

    streaming: bool = False
    """Whether clients of the gateway's listener may ask for streamed chat completions (`stream` true). All other calls
    are streamed without it, such as Responses, Messages, Gemini and legacy completions. The proxy always streams."""

    websockets: bool = True
    """Whether clients may open WebSockets for OpenAI's Responses API, whose messages are protected as requests are.
    Other upgrades, and all if this is false, are refused with 426, after which codex sends HTTP requests."""

    telemetry: Literal["drop", "protect"] = "drop"
    """How known reports that proxy clients send on their own use, such as traces, are treated: dropped with the answer
    that the client expects, or protected as any JSON. They never pass as they are."""

    default_policy: str = Field("default", min_length=1)
    """Policy of requests that do not name one."""
    detection: Literal["patterns", "full"] = "full"
    """`full`: recognizers and the name model. `patterns`: recognizers only, which find few names of people and none of
    places, but are many times faster."""
    detection_model: DirectoryPath | None = None
    """Folder of your own token-classification model (`model.onnx`, `tokenizer.json`, `config.json`), used in addition.
    Needs the package `tokenizers`."""
    detection_service: Url | None = None
    """Base URL of a Presidio analyzer, used in addition. It receives unprotected text. If it does not answer, the
    gateway refuses the request."""
    detection_service_language: str = Field("en", min_length=2)
    """Language that the gateway declares to it."""
    detection_timeout_seconds: Seconds = 30
    """Seconds that detection may take for a request. After that, or after waiting for its turn ten times as long, the
    gateway refuses it. With the name model, new text takes two to six seconds per MB."""
    workers: int | None = Field(None, ge=1, le=64)
    """Threads for detection, not counting those that wait for a service. Default: 4 with a name model, otherwise 2."""
    search_processes: int = Field(1, ge=0, le=64)
    """Additional processes that read texts for names, with 120 to 180 MB of memory each or, without a name model,
    search large texts for patterns (50 MB). `0`: the gateway's own process does it."""
    model_threads: int = Field(4, ge=1, le=64)
    """Texts that each of `search_processes` takes at once."""
    share_one_core: bool = True
    """Keep the gateway process's threads on one processor core, chosen at random (Linux): only one of them runs Python
    at a time, and handing over between cores is expensive. Without effect where the process runs a name model itself.
    Switch it off where several gateways share a few cores."""
    queue_limit: int = Field(1024, ge=1, le=100_000)
    """Requests that may wait for detection, half of them of one key (503, 429)."""

    body_room_bytes: Size = ByteSize(64 * _MIB)
    """Memory for request bodies above 64 KB. Beyond it: 503; beyond a quarter of it for one key: 429."""
    body_limit_bytes: Size = ByteSize(10 * _MIB)
    """Largest request body, before and after decompression. Above it: 413."""
    head_limit_bytes: Size = ByteSize(64 * 1024)
    """Largest head of a request (431 above it) and of an upstream's answer (502); also of trailers."""
    head_fields_limit: int = Field(256, ge=16, le=10_000)
    """Header fields that such a head may have."""
    head_timeout_seconds: Seconds = 30
    """How long a request's head may take, and a pause in its body. Then the connection is closed."""
    body_timeout_seconds: Seconds = 300
    """How long a request's body may take in all."""
    idle_timeout_seconds: Seconds = 120
    """How long a connection is kept that waits for its next request."""
    tunnel_timeout_seconds: Seconds = 600
    """How long a tunnel to a host that is not intercepted may be silent in both directions."""
    max_connections: int = Field(2048, ge=1, le=1_000_000)
    """Connections of clients at once, also at most half of the open files (less 128) that the system allows. When all
    are in use, the one whose client has been silent longest is closed."""
    max_connections_per_address: int = Field(1024, ge=1, le=1_000_000)
    """The same for the clients of one address."""
    trusted_proxies: Networks = ()
    """Networks of the load balancers in front of the gateway, such as 10.0.0.0/8. For requests from these, the log has
    the client that `X-Forwarded-For` names."""
    response_limit_bytes: Size = ByteSize(32 * _MIB)
    """Largest answer of an upstream. Above it: 502."""
    rate_limit_per_minute: int = Field(0, ge=0, le=1_000_000)
    """Requests per minute and key. 0: no limit."""
    session_ttl_seconds: SessionSeconds | None = None
    """Lifetime of a vault session whose request sets none, if shorter than its policy's."""
    session_max_ttl_seconds: SessionSeconds = 86400
    """Longest lifetime of a vault session. A policy's `max_ttl_seconds` applies if shorter."""
    session_max_values: int = Field(100_000, ge=1, le=100_000)
    """Values that one vault session may hold. A policy's `max_values` applies if smaller."""

    batch_retention_hours: int = Field(48, ge=0, le=720)
    """Hours for which the values of a batch are kept, sealed, until its results are fetched
    ([batches](wires.md#batches)). 0: batches are refused."""

    api_key: HeaderSecret | None = None
    """An API key with operator scope, accepted in addition to those in the database."""
    installation_key: Secret | None = None
    """Secret from which the placeholders of chats are derived, at least 32 characters. Installations that share
    conversations need the same one. If unset, the gateway keeps a random one in `data_dir`."""
    signing_key: Secret | None = None
    """Ed25519 key that signs receipts (PKCS #8 in PEM). If unset, the gateway keeps one in `data_dir`."""

    receipts_keep: Kept | None = None
    """How long receipts are kept, such as `400d` or `52w`, at least `2d`. Older ones are deleted once a day, as
    `receipts prune` does ([retention](operating.md#retention)). If unset, all are kept."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level to log."""
    log_json: bool = False
    """Log one JSON object per line, to standard output, which then has nothing else."""
    log_file: Path | None = None
    """File to append the log to. Default: standard error, or standard output with `log_json`."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Returns the sources, highest precedence first: arguments (the command line), environment, file."""
        file = InitSettingsSource(settings_cls, init_kwargs=dict(file_values.get()))
        return init_settings, EnvironmentSource(settings_cls), file

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        ports = [self.gateway_port, self.proxy_port if self.proxy else 0, self.web_port if self.web else 0]
        ports.append(self.operations_port or 0)
        if len(set(taken := [port for port in ports if port])) < len(taken):
            raise ValueError("gateway_port, proxy_port, web_port and operations_port must differ")
        if (self.session_ttl_seconds or 0) > self.session_max_ttl_seconds:
            raise ValueError("session_ttl_seconds must not exceed session_max_ttl_seconds")
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key belong together; set both or none")
        if self.upstream and CONFIGURED_UPSTREAM in self.upstreams:
            raise ValueError(f"upstream and upstreams.{CONFIGURED_UPSTREAM} name the same upstream; set one of them")
        if self.api_key and len(self.api_key.get_secret_value()) < 16:
            raise ValueError("api_key must have at least 16 characters")
        tokens = [token.get_secret_value() for token in self.web_tokens.values()]
        if any(len(token) < 16 for token in tokens) or len(set(tokens)) < len(tokens):
            raise ValueError("web_tokens must have at least 16 characters each, and differ")
        if self.installation_key and len(self.installation_key.get_secret_value()) < 32:
            raise ValueError("installation_key must have at least 32 characters")
        return self

    def speaks_tls(self, listener: str) -> bool:
        """Tells whether a listener has a certificate."""
        return self.tls_certificate is not None and listener in self.tls_listeners

    @property
    def operations(self) -> bool:
        """Whether there is a listener for operations."""
        return self.operations_port is not None

    @property
    def postgresql(self) -> Database | None:
        """Returns the database on a server, if there is one."""
        return Database(self.database, self.database_password) if self.database is not None else None

    @property
    def all_upstreams(self) -> dict[str, UpstreamSettings]:
        """Returns all upstreams, the one of `upstream` first, with the defaults for their CA file and time-out."""
        found = dict(self.upstreams)
        if self.upstream is not None:
            short = UpstreamSettings(base_url=self.upstream, default_model=self.upstream_model)
            found = {CONFIGURED_UPSTREAM: short, **found}
        for name, each in found.items():
            seconds = each.timeout_seconds or self.upstream_timeout_seconds
            update = {"ca_file": each.ca_file or self.upstream_ca, "timeout_seconds": seconds}
            found[name] = each.model_copy(update=update)
        return found

    @property
    def longest_timeout(self) -> float:
        """Returns the longest timeout of any upstream, in seconds."""
        return max(self.upstream_timeout_seconds, *(each.timeout_seconds or 0 for each in self.upstreams.values()), 0)

    @property
    def upstream_ca_files(self) -> tuple[Path, ...]:
        """Returns every file of additional authorities once, for code that uses one trust store for all upstreams."""
        files = [self.upstream_ca, *(each.ca_file for each in self.upstreams.values())]
        return tuple(dict.fromkeys(file for file in files if file is not None))

    @property
    def outbound_proxies(self) -> OutboundProxies:
        """Returns the outbound proxies. Raises SettingsError if they contradict each other, or a secret is missing."""
        own = {name: (each.proxy, each.proxy_credentials) for name, each in self.upstreams.items()}
        try:
            return outbound_proxies(self.upstream_proxy, self.upstream_proxy_credentials, self.no_proxy, own)
        except ValueError as error:
            raise SettingsError(str(error)) from None

    @property
    def intercept_regexes(self) -> tuple[str, ...]:
        """Returns anchored expressions over `host:port`, in the form of mitmproxy's `allow_hosts`."""
        return host_regexes((*self.intercept_hosts, *self.intercept_also))

    def check_upstreams(self) -> None:
        """Raises SettingsError with all problems of the upstreams, such as a key that is not set.

        Only `serve` calls this: other commands need no upstreams, and some exist only as options of `serve`.
        """
        problems: list[str] = []
        if self.default_upstream and self.default_upstream not in self.all_upstreams:
            given = f"; define `{CONFIGURED_UPSTREAM}` with `--upstream URL` or the setting `upstream`"
            hint = given if self.default_upstream == CONFIGURED_UPSTREAM else ""
            problems.append(f"default_upstream: no upstream has this name{hint}")
        checks: list[Callable[[], object]] = [partial(self.upstream_api_key, name) for name in self.upstreams]
        checks += [partial(self.upstream_signer, name) for name in self.upstreams]
        checks.append(partial(getattr, self, "outbound_proxies"))
        for check in checks:
            try:
                check()
            except SettingsError as error:
                problems += error.problems
        if problems:
            raise SettingsError(*problems)

    def upstream_api_key(self, name: str) -> SecretStr | None:
        """Returns the API key for the upstream `name`. Raises SettingsError if it is not there."""
        if name == CONFIGURED_UPSTREAM and self.upstream is not None:
            return self.upstream_key
        try:
            key = self.upstreams[name].key()
        except ValueError as error:
            raise SettingsError(f"upstreams.{name}.{error}") from None
        return SecretStr(key) if key is not None else None

    def upstream_signer(self, name: str) -> AwsSigner | None:
        """Returns what signs requests to the upstream `name`. Raises SettingsError if its credentials are not there."""
        try:
            return self.upstreams[name].signer() if name in self.upstreams else None
        except ValueError as error:
            raise SettingsError(f"upstreams.{name}.{error}") from None

    def make_data_dir(self) -> Path:
        """Creates the data folder for its owner only if missing, and returns its path.

        Raises SettingsError if others can open it or a key in it.
        """
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(self.data_dir)
        return self.data_dir
