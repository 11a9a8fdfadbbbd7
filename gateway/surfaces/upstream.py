"""Implements the surface of a configured provider: a pooled HTTP client with a size limit for answers.

It ignores the environment (.netrc, and proxy variables unless the settings ask for them). It follows no redirects,
because their target is not configured, and does not return them either, because a client that followed one would send
its unprotected text there.
"""

import asyncio
import re
import ssl
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from time import monotonic

import httpx
from pydantic import SecretStr

from gateway.auth.credentials import PROVIDER_CREDENTIALS
from gateway.config.listener_addresses import in_url
from gateway.config.outbound_proxy import OutboundProxy
from gateway.config.settings import Settings
from gateway.config.upstreams import UpstreamSettings, host_and_port
from gateway.errors import BadRequest, BadUpstream, GatewayError
from gateway.http.aws_signing import AwsSigner
from gateway.http.content_encoding import decode
from gateway.http.header_names import HOP_BY_HOP
from gateway.http.strict_json import dump, parse_object
from gateway.http.types import Field
from gateway.http.upstream_failures import Fault, of_decoding, of_exception, of_proxy, of_proxy_status
from gateway.models import Family
from gateway.surfaces.base import Body, Surface
from gateway.wires.members import objects_at

_LIMITS = httpx.Limits(max_connections=256, max_keepalive_connections=64, keepalive_expiry=30)
_SECONDS, _CONNECT_SECONDS = 600.0, 10.0
_LISTS: dict[Family, str] = {
    "openai": "models",
    "anthropic": "v1/models",
    "gemini": "v1beta/models",
    "ollama": "api/tags",
    "cohere": "v1/models",
}
_KEY_HEADERS: dict[Family, str] = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}
# How long an upstream's list of models counts, and how long it may take.
_LIST_SECONDS = 300.0
_LIST_WAIT = 5.0
_VERSION = re.compile(r"/v\d+(?:alpha|beta)?\d*\Z")
_VERSIONED = re.compile(r"\Av\d+(?:alpha|beta)?\d*/")
_GLOB = frozenset("*?[")
_MODEL = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_.:/@+-]{0,255}\Z")

# Fields that this module sets, and those that end with each hop.
_NOT_SENT = HOP_BY_HOP | frozenset(b"host expect content-length content-type content-encoding accept-encoding".split())


class UpstreamSurface(Surface):
    """A provider, reached through `proxy` if there is one.

    `response_limit` is the maximum size of an answer in bytes, before and after decompression.

    Raises ValueError if the CA file of the settings is unusable.
    """

    has_patterns = True

    def __init__(
        self,
        name: str,
        config: UpstreamSettings,
        key: SecretStr | None = None,
        *,
        response_limit: int = 1 << 25,
        proxy: OutboundProxy | None = None,
        signer: AwsSigner | None = None,
    ) -> None:
        self.id, self.family, self.trust = name, config.wire, config.trust
        self.seconds = config.timeout_seconds or _SECONDS
        """How long the upstream may take to answer."""
        self._config, self._key = config, key
        host, port = host_and_port(config.base_url)
        self.signer, self.origin = signer, f"{config.base_url.partition(':')[0].lower()}://{in_url(host)}:{port}"
        self._plain_models = tuple(model for model in config.models if not _GLOB & set(model))
        self._limit = response_limit
        self._proxy = proxy
        self._listed: tuple[str, ...] = ()
        self._list_again = 0.0
        self._client = httpx.AsyncClient(
            http1=True,
            http2=False,
            verify=_trusted(config.ca_file, plain=config.base_url.startswith("http://")),
            follow_redirects=False,
            trust_env=False,
            proxy=_for_client(proxy, config.ca_file) if proxy is not None else None,
            limits=_LIMITS,
            timeout=httpx.Timeout(self.seconds, connect=min(_CONNECT_SECONDS, self.seconds)),
            headers={"user-agent": "privacy-gateway", "accept": "application/json"},
        )

    def __repr__(self) -> str:
        return f"UpstreamSurface({self.id!r}, {self._config!r})"

    def endpoint(self, path: str = "chat/completions") -> str:
        """Returns the URL of an API method. A version at the end of the base URL replaces that of the path."""
        base = self._config.base_url
        return f"{base}/{_VERSIONED.sub('', path) if _VERSION.search(base) else path}"

    @property
    def credential(self) -> Field | None:
        """Returns the header field with the configured key."""
        if self._key is None:
            return None
        value = self._key.get_secret_value().encode("latin-1", "replace")
        name = self._config.key_header or _KEY_HEADERS.get(self.family, "authorization")
        return name.encode(), b"Bearer " + value if name == "authorization" else value

    def models(self) -> tuple[str, ...]:
        """Returns the configured names that are no patterns."""
        return self._plain_models

    def model_for(self, name: str, *, anything: bool = True) -> str | None:
        """Returns `name` if a pattern matches it, the default model for the upstream's own name, else None.

        Without `default_model`, the default is the first plain name in `models`, or else the upstream's own name, which
        servers of a single model accept. `*` matches only with `anything`.
        """
        if name == self.id:
            return self._config.default_model or next(iter(self._plain_models), name)
        patterns = [pattern for pattern in self._config.models if anything or pattern != "*"]
        return name if any(fnmatchcase(name, pattern) for pattern in patterns) else None

    async def listed(self) -> tuple[str, ...]:
        """Returns the names that the upstream lists and this surface serves. Asks again after five minutes at most."""
        if monotonic() >= self._list_again:
            self._list_again = monotonic() + _LIST_SECONDS
            self._listed = await self._list()
        return self._listed

    async def _list(self) -> tuple[str, ...]:
        if self.family == "bedrock":
            # The hosts that serve models list none.
            return ()
        headers = [field for field in (self.credential,) if field is not None]
        if self.family == "anthropic":
            headers.append((b"anthropic-version", b"2023-06-01"))
        request = self._client.build_request("GET", self.endpoint(_LISTS[self.family]), headers=headers)
        try:
            async with asyncio.timeout(min(_LIST_WAIT, self.seconds)):
                _, answer = await self._exchange(request)
            body = parse_object(answer)
        except (TimeoutError, httpx.TransportError, GatewayError):
            return ()
        given = objects_at(body, "data") or objects_at(body, "models")
        names = [str(entry.get("id") or entry.get("name")).removeprefix("models/") for entry in given]
        return tuple(name for name in names if _MODEL.match(name) and self.model_for(name) is not None)

    async def send(self, body: bytes, headers: Iterable[Field] = (), url: str | None = None) -> tuple[int, bytes]:
        """Sends the exact bytes of a protected body. Returns the status, whatever it is, and the decoded answer.

        `url` is that of the API method, by default of chat completions. `headers` are those that may be sent. A
        credential among them is the client's own and overrides the configured key. Raises BadUpstream
        (`upstream_unreachable`; `upstream_invalid` for an answer that is too large, does not decode, or is a redirect)
        and UpstreamTimeout.
        """
        request = self._client.build_request(
            "POST", url or self.endpoint(), content=body, headers=list(self._fields(headers))
        )
        try:
            async with asyncio.timeout(self.seconds):
                return await self._exchange(request)
        except (TimeoutError, httpx.TransportError) as error:
            fault = _fault(error, self._proxy)
        raise self._failed(fault)

    async def complete(self, body: Body) -> Body:
        """Returns the answer as an object. Raises BadUpstream for an error status; `send` returns its body."""
        status, answer = await self.send(dump(body))
        if status >= 400:
            raise BadUpstream(f"The upstream `{self.id}` answered with status {status}.", code="upstream_invalid")
        try:
            return parse_object(answer)
        except BadRequest:
            raise self._failed(Fault.NOT_JSON) from None

    async def aclose(self) -> None:
        await self._client.aclose()

    def _fields(self, headers: Iterable[Field]) -> Iterator[Field]:
        yield b"content-type", b"application/json"
        # Uncompressed answers save work on both sides. Compressed ones are accepted nevertheless.
        yield b"accept-encoding", b"identity"
        credential = self.credential
        for name, value in headers:
            lowered = name.lower()
            if lowered in PROVIDER_CREDENTIALS:
                credential = None
            if lowered not in _NOT_SENT:
                yield lowered, value
        if credential is not None:
            yield credential

    async def _exchange(self, request: httpx.Request) -> tuple[int, bytes]:
        response = await self._client.send(request, stream=True)
        try:
            if self._proxy is not None and response.status_code == 407:
                # The proxy's, which gets plain HTTP as it is. Its other answers look like those of the upstream.
                raise self._failed(Fault.PROXY_CREDENTIALS)
            if response.is_redirect or 300 <= response.status_code < 400:
                raise self._failed(Fault.REDIRECT)
            raw = bytearray()
            async for chunk in response.aiter_raw():
                raw += chunk
                if len(raw) > self._limit:
                    raise self._failed(Fault.TOO_LARGE)
        finally:
            await response.aclose()
        try:
            coding = response.headers.get("content-encoding")
            return response.status_code, decode(bytes(raw), coding, self._limit)
        except GatewayError as error:
            raise self._failed(of_decoding(error)) from None

    def _failed(self, fault: Fault) -> GatewayError:
        """Logs a fault. Returns the error for the client."""
        fault.report(f"`{self.id}`")
        return fault.error(self.id)


def _trusted(ca_file: Path | None, *, plain: bool) -> ssl.SSLContext:
    """Trusts the well-known authorities, those of the system, and those of the file.

    A `plain` URL never asks for an authority, and those that are not in the file take a tenth of a second to load.
    """
    try:
        return _context(ca_file, ca_file and ca_file.read_bytes(), plain=plain)
    except (OSError, ssl.SSLError):
        raise ValueError("the CA file of an upstream cannot be read as PEM certificates") from None


@lru_cache(16)
def _context(ca_file: Path | None, _content: bytes | None, *, plain: bool) -> ssl.SSLContext:
    """Loads the authorities once for all upstreams and reloads, as long as the content of the file is the same."""
    if plain:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    else:
        context = httpx.create_ssl_context(trust_env=False)
        context.load_default_certs()
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context


def _for_client(proxy: OutboundProxy, ca_file: Path | None) -> httpx.Proxy:
    headers = {} if proxy.authorization is None else {"proxy-authorization": proxy.authorization.decode()}
    context = _trusted(ca_file, plain=False) if proxy.scheme == "https" else None
    return httpx.Proxy(proxy.url, headers=headers, ssl_context=context)


def _fault(error: Exception, proxy: OutboundProxy | None) -> Fault:
    """Classifies an error of httpx, whose message may quote the URL."""
    if isinstance(error, httpx.ProxyError):
        # The message is the status and the reason of the proxy's answer to CONNECT.
        return of_proxy_status(int(str(error)[:3])) or Fault.UNKNOWN
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return Fault.TIMED_OUT
    broken = Fault.UNKNOWN if isinstance(error, httpx.ConnectError) else Fault.CLOSED
    fault = of_exception(error) or broken
    if proxy is None or not isinstance(error, httpx.ConnectError):
        return fault
    # Inside the tunnel, TLS is with the upstream.
    in_tunnel = proxy.scheme == "http" and of_proxy(fault) is Fault.PROXY_TLS
    return fault if in_tunnel else of_proxy(fault)


def build(settings: Settings) -> Iterator[UpstreamSurface]:
    """Builds a surface for every configured upstream, in the order of the settings."""
    proxies = settings.outbound_proxies
    for name, table in settings.all_upstreams.items():
        key, signer = settings.upstream_api_key(name), settings.upstream_signer(name)
        proxy = proxies.route(*host_and_port(table.base_url), name)
        yield UpstreamSurface(
            name, table, key, response_limit=settings.response_limit_bytes, proxy=proxy, signer=signer
        )
