"""Classifies failures of upstreams and describes them without addresses or quotations."""

import errno
import logging
import socket
import ssl
from collections.abc import Iterator
from enum import Enum

from gateway.errors import BadUpstream, Forbidden, GatewayError, TooLarge, UpstreamTimeout

_log = logging.getLogger(__name__)

_UNRESOLVED = frozenset(value for name, value in vars(socket).items() if name.startswith("EAI_"))
# X509_V_ERR_… of OpenSSL's x509_vfy.h.
_CERT_NOT_YET_VALID, _CERT_EXPIRED = 9, 10
_HOSTNAME_MISMATCH, _IP_ADDRESS_MISMATCH = 62, 64
_OWN_ADDRESS = (
    "This address is one of the gateway's own listeners, and the proxy does not connect to them. To use the proxy, set"
    " it as `HTTPS_PROXY` and request a provider's host. Calls with a base URL, such as /v1/chat/completions, and"
    " `/docs` belong to the gateway's own port (`gateway_port`, 8000 by default)."
)
_PRIVATE = (
    "This destination is on the gateway's machine or in a private network, which clients on other machines do not reach"
    " through the proxy. The operator can list it in the setting `proxy_private_destinations`, or for contained"
    " programs, without a wildcard, in `contained_hosts`."
)


class Fault(Enum):
    """A kind of failure: its name for the log, and its description."""

    REFUSED = "connection_refused", "refused the connection"
    UNRESOLVED = "name_not_resolved", "has a name that cannot be resolved"
    NO_ROUTE = "no_route", "cannot be reached: there is no route to it"
    TIMED_OUT = "timed_out", "did not answer in time"
    UNTRUSTED = (
        "certificate_not_trusted",
        "has a certificate of an authority that is not trusted; name that authority in `upstream_ca` or `ca_file`",
    )
    OTHER_NAME = "certificate_of_another_name", "has a certificate for another name"
    EXPIRED = "certificate_expired", "has a certificate that is not valid at this time"
    NO_TLS = "tls_failed", "could not agree on TLS"
    CLOSED = "closed_early", "closed the connection before its answer was complete"
    UNREADABLE = "not_http", "did not send a valid HTTP response"
    TOO_LARGE = "too_large", "sent a response that exceeds `response_limit_bytes`"
    HEAD_TOO_LARGE = "head_too_large", "sent a head or trailers that exceed `head_limit_bytes` or `head_fields_limit`"
    UNDECODABLE = "not_decodable", "sent a response that does not decode with its content coding"
    NOT_JSON = "not_json", "did not answer with a JSON object"
    REDIRECT = "redirect", "answered with a redirect, which is not passed on"
    OWN_LISTENER = "own_listener", "is one of the gateway's own listeners; set the address of the provider"
    PRIVATE = "private_destination", "is on the gateway's machine or in a private network"
    PROXY_UNREACHABLE = (
        "proxy_unreachable",
        "cannot be reached: the outbound proxy does not answer; check `upstream_proxy`",
    )
    PROXY_TLS = (
        "proxy_tls_failed",
        "cannot be reached: TLS with the outbound proxy failed; name the authority of its certificate in `upstream_ca`",
    )
    PROXY_CREDENTIALS = (
        "proxy_credentials",
        "cannot be reached: the outbound proxy requires other credentials; check `upstream_proxy_credentials`",
    )
    PROXY_DENIED = "proxy_denied", "cannot be reached: the outbound proxy does not permit connections to it"
    PROXY_FAILED = "proxy_failed", "cannot be reached: the outbound proxy could not connect to it"
    PROXY_IS_OURS = (
        "proxy_is_own_listener",
        "cannot be reached: `upstream_proxy` leads to one of the gateway's own listeners; set the address of the proxy",
    )
    UNKNOWN = "unreachable", "could not be reached or closed the connection early"

    @property
    def kind(self) -> str:
        return self.value[0]

    def error(self, upstream: str = "") -> GatewayError:
        """Builds the error for the client. `upstream` is the upstream's name in the settings."""
        message = f"The upstream {f'`{upstream}` ' if upstream else ''}{self.value[1]}."
        if self is Fault.TIMED_OUT:
            return UpstreamTimeout(message)
        if self is Fault.OWN_LISTENER:
            return Forbidden(message if upstream else _OWN_ADDRESS)
        if self is Fault.PRIVATE:
            return Forbidden(message if upstream else _PRIVATE, code="private_destination")
        return BadUpstream(message, code="upstream_invalid" if self in _INVALID else None)

    def report(self, upstream: str, request_id: str = "") -> None:
        """Logs the failure for the operator."""
        _log.warning(
            "upstream %s %s (%s)%s", upstream, self.value[1], self.kind, f" {request_id}" if request_id else ""
        )


# The upstream answered, but with something that is not passed on.
_INVALID = {
    Fault.UNREADABLE,
    Fault.TOO_LARGE,
    Fault.HEAD_TOO_LARGE,
    Fault.UNDECODABLE,
    Fault.NOT_JSON,
    Fault.REDIRECT,
}

_OF_PROXY = {Fault.OWN_LISTENER: Fault.PROXY_IS_OURS} | dict.fromkeys(
    (Fault.UNTRUSTED, Fault.OTHER_NAME, Fault.EXPIRED, Fault.NO_TLS), Fault.PROXY_TLS
)
_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL)
_CLOSED = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE)
_OF_NUMBERS = dict.fromkeys(_NO_ROUTE, Fault.NO_ROUTE) | dict.fromkeys(_CLOSED, Fault.CLOSED)
_OF_NUMBERS |= {errno.ECONNREFUSED: Fault.REFUSED, errno.ETIMEDOUT: Fault.TIMED_OUT}


def of_decoding(error: GatewayError) -> Fault:
    """Classifies an error of `decode`."""
    return Fault.TOO_LARGE if isinstance(error, TooLarge) else Fault.UNDECODABLE


def of_number(number: int) -> Fault:
    """Classifies an `errno` or an error number of getaddrinfo."""
    if number in _UNRESOLVED:
        return Fault.UNRESOLVED
    return _OF_NUMBERS.get(number, Fault.UNKNOWN)


def of_proxy(fault: Fault) -> Fault:
    """Returns the fault of an upstream whose outbound proxy failed with `fault`."""
    return _OF_PROXY.get(fault, Fault.PROXY_UNREACHABLE)


def of_proxy_status(status: int) -> Fault | None:
    """Classifies the answer of a proxy to CONNECT; None if it opened the tunnel."""
    if 200 <= status < 300:
        return None
    if status == 407:
        return Fault.PROXY_CREDENTIALS
    return Fault.PROXY_DENIED if 400 <= status < 500 else Fault.PROXY_FAILED


def of_exception(error: BaseException) -> Fault | None:
    """Classifies an exception by the system error among its causes, if there is one."""
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError(verify_code=code):
                return _of_certificate(code)
            case ssl.SSLError():
                return Fault.NO_TLS
            case socket.gaierror():
                return Fault.UNRESOLVED
            case OSError(errno=int(number)) if (fault := of_number(number)) is not Fault.UNKNOWN:
                return fault
    return None


def _of_certificate(code: int) -> Fault:
    if code in {_HOSTNAME_MISMATCH, _IP_ADDRESS_MISMATCH}:
        return Fault.OTHER_NAME
    return Fault.EXPIRED if code in {_CERT_NOT_YET_VALID, _CERT_EXPIRED} else Fault.UNTRUSTED


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yields an exception, its causes and contexts, and the members of exception groups (one per address tried)."""
    known: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop(0)
        if each is not None and id(each) not in known:
            known.add(id(each))
            yield each
            waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
            waiting += (each.__cause__, each.__context__)
