"""Defines the settings of the listeners: their addresses and ports, and which clients the proxy serves."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings

from gateway.config.field_types import Destinations, HostNames, Port, Risks, Strings


class ListenerSettings(BaseSettings):
    """The part of `Settings` that concerns listeners."""

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address that the gateway listens on. For any but loopback, terminate TLS in front of it.",
    )
    accept_risks: Risks = Field(
        (),
        description="Risks of listening beyond this machine: `plain_http` (texts and keys without TLS), `open_proxy`"
        " (a proxy without `proxy_key`), `public_demo` (no upstream but the demo), `public_mitmweb`. The gateway does"
        " not start while a listener has a risk that is not among these.",
    )
    gateway_port: Port = Field(
        8000, description="Port of the gateway: native endpoints and `/v1` as a base URL. 0: any free port."
    )
    proxy: bool = Field(True, description="Run the proxy. `false` does not affect `modes`.")
    proxy_host: str = Field(
        "127.0.0.1", min_length=1, description="Address that the proxy listens on. Independent of `host`."
    )
    proxy_port: Port = Field(8080, description="Port of the proxy, for `HTTPS_PROXY`. 0: any free port.")
    proxy_key: bool = Field(
        False,
        description="Require a gateway key of proxy clients, also in `modes`: `HTTPS_PROXY=http://key:KEY@host:8080`."
        " Without one: 407. Modes that cannot ask for a key are refused, except `local`.",
    )
    proxy_private_destinations: Destinations = Field(
        (),
        description="Destinations on this machine and in private networks that clients on other machines may reach"
        " through the proxy: `host`, `host:port`, an IP address or a network such as `10.1.0.0/16`, also with a port"
        " (`[fd00::/8]:443`). Others are refused with 403. Clients on this machine may reach all.",
    )
    web: bool = Field(True, description="Run mitmweb, where operators inspect protected requests.")
    web_host: str = Field(
        "127.0.0.1", min_length=1, description="Address that mitmweb listens on. Independent of `host`."
    )
    web_port: Port = Field(8081, description="Port of mitmweb. 0: any free port.")
    web_names: HostNames = Field(
        (),
        description="Names by which browsers reach mitmweb, which answers only to them, `web_host` and loopback.",
    )
    max_flows: int = Field(
        500, ge=0, le=1_000_000, description="Maximum number of flows in mitmweb. The oldest are dropped."
    )
    modes: Strings = Field(
        (), description="Additional mitmproxy modes, such as `socks5@127.0.0.1:1080`, `local:firefox`, `wireguard`."
    )

    @model_validator(mode="after")
    def _ports_differ(self) -> Self:
        ports = {"gateway_port": self.gateway_port}
        ports |= {"proxy_port": self.proxy_port} if self.proxy else {}
        ports |= {"web_port": self.web_port} if self.web else {}
        taken = [port for port in ports.values() if port]
        if len(set(taken)) < len(taken):
            raise ValueError("gateway_port, proxy_port and web_port must differ")
        return self
