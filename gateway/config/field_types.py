"""Defines the types of settings and validates them. Error messages never repeat the value."""

from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    SecretStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_settings import NoDecode

from gateway.config.ages import parse_age
from gateway.config.database_url import check_database
from gateway.config.host_patterns import check_host_name, check_host_pattern
from gateway.config.listener_addresses import ListenerName, Risk
from gateway.config.outbound_proxy import check_credentials, check_no_proxy, check_proxy
from gateway.config.private_destinations import check_destination
from gateway.config.secret_references import header_secret, is_reference, resolve
from gateway.http.header_names import check_header_name


def _comma_separated(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _size(value: object, parse: ValidatorFunctionWrapHandler) -> ByteSize:
    try:
        size = ByteSize(parse(value))
    except ValidationError:
        # Pydantic's message would repeat what it takes for the unit.
        raise ValueError("write a size as 10485760, 10 MB or 10 MiB") from None
    if not 1024 <= size <= 1024**3:
        raise ValueError("a size must be between 1 KiB and 1 GiB")
    return size


def _kept(value: object) -> timedelta:
    age = parse_age(value) if isinstance(value, str) else None
    if age is None or age < LEAST_KEPT:
        raise ValueError(f"write an age of {LEAST_KEPT.days} days or more as days or weeks, such as 400d or 52w")
    return age


def _networks(value: object, parse: ValidatorFunctionWrapHandler) -> object:
    try:
        return parse(value)
    except ValidationError:
        raise ValueError("write networks as 10.0.0.0/8 or fd00::/8, separated by commas") from None


def _in_header(secret: SecretStr) -> SecretStr:
    return SecretStr(header_secret(secret.get_secret_value()))


def _referenced(value: object) -> object:
    if not is_reference(value):
        raise ValueError("write `env:NAME` or `file:PATH`, where the token is")
    return resolve(value)


LEAST_KEPT = timedelta(days=2)
"""A request and its session may each last a day, and their receipts are looked up and verified until then."""


def _user_and_password(secret: SecretStr) -> SecretStr:
    return SecretStr(check_credentials(secret.get_secret_value()))


# NoDecode: a list in a variable is written `a,b`, not as JSON.
Strings = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_comma_separated)]
Risks = Annotated[tuple[Risk, ...], NoDecode, BeforeValidator(_comma_separated)]
Listeners = Annotated[tuple[ListenerName, ...], NoDecode, BeforeValidator(_comma_separated)]
HostName = Annotated[str, AfterValidator(check_host_name)]
HostNames = Annotated[tuple[HostName, ...], NoDecode, BeforeValidator(_comma_separated)]
HostPattern = Annotated[str, AfterValidator(check_host_pattern)]
HostPatterns = Annotated[tuple[HostPattern, ...], NoDecode, BeforeValidator(_comma_separated)]
Destination = Annotated[str, AfterValidator(check_destination)]
Destinations = Annotated[tuple[Destination, ...], NoDecode, BeforeValidator(_comma_separated)]
DatabaseUrl = Annotated[str, AfterValidator(check_database)]
Proxy = Annotated[str, AfterValidator(check_proxy)]
NoProxyEntry = Annotated[str, AfterValidator(check_no_proxy)]
NoProxy = Annotated[tuple[NoProxyEntry, ...], NoDecode, BeforeValidator(_comma_separated)]
HeaderName = Annotated[str, AfterValidator(check_header_name)]
HeaderNames = Annotated[tuple[HeaderName, ...], NoDecode, BeforeValidator(_comma_separated)]
Networks = Annotated[
    tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_comma_separated), WrapValidator(_networks)
]
Port = Annotated[int, Field(ge=0, le=65535)]
Size = Annotated[ByteSize, WrapValidator(_size)]
Seconds = Annotated[float, Field(gt=0, le=86400)]
Kept = Annotated[timedelta, BeforeValidator(_kept)]
SessionSeconds = Annotated[int, Field(ge=60, le=86400)]
# Itself, or a reference to where it is.
Secret = Annotated[SecretStr, BeforeValidator(resolve)]
OperatorTokens = dict[
    Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")],
    Annotated[SecretStr, BeforeValidator(_referenced), AfterValidator(_in_header)],
]
HeaderSecret = Annotated[Secret, AfterValidator(_in_header)]
ProxyCredentials = Annotated[Secret, AfterValidator(_user_and_password)]
