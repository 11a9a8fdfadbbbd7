"""Every kind of fault has a word, a sentence and a status; what the system says leads to it."""

import errno
import socket
import ssl

import pytest

from gateway.errors import UpstreamTimeout
from gateway.http.upstream_failures import Fault, of_exception, of_number, of_proxy, of_proxy_status


def test_every_kind_has_its_own_word_and_sentence() -> None:
    assert len({fault.kind for fault in Fault}) == len({fault.error().message for fault in Fault}) == len(Fault)
    for fault in Fault:
        error = fault.error("acme")
        assert error.message.startswith("The upstream `acme` ")
        if fault in (Fault.OWN_LISTENER, Fault.PRIVATE):
            assert (error.status, error.code) == (403, "forbidden" if fault is Fault.OWN_LISTENER else fault.kind)
            continue
        assert (error.status, error.code) in {
            (502, "upstream_unreachable"),
            (502, "upstream_invalid"),
            (504, "upstream_timeout"),
        }
    assert isinstance(Fault.TIMED_OUT.error(), UpstreamTimeout)
    assert Fault.REFUSED.error().message == "The upstream refused the connection."


def refused() -> OSError:
    return ConnectionRefusedError(errno.ECONNREFUSED, "to 192.0.2.7")


def not_trusted(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "canary")
    error.verify_code = code
    return error


@pytest.mark.parametrize(
    ("cause", "fault"),
    [
        (refused(), Fault.REFUSED),
        (ExceptionGroup("all", [OSError("none"), refused()]), Fault.REFUSED),
        (socket.gaierror(socket.EAI_NONAME, "canary.example"), Fault.UNRESOLVED),
        (not_trusted(20), Fault.UNTRUSTED),
        (not_trusted(10), Fault.EXPIRED),
        (not_trusted(62), Fault.OTHER_NAME),
        (ssl.SSLError(1, "canary"), Fault.NO_TLS),
        (ConnectionResetError(errno.ECONNRESET, "canary"), Fault.CLOSED),
        (OSError("canary"), None),
        (ValueError("canary"), None),
    ],
)
def test_the_cause_is_found_below_what_was_raised(cause: Exception, fault: Fault | None) -> None:
    above = OSError("All connection attempts failed")
    above.__cause__ = cause
    highest = RuntimeError("it failed")
    highest.__context__ = above
    assert of_exception(highest) is fault
    above.__context__ = highest
    assert of_exception(highest) is fault, "also where the causes go in a ring"


def test_numbers() -> None:
    assert of_number(errno.EHOSTUNREACH) is Fault.NO_ROUTE
    assert of_number(errno.EPIPE) is Fault.CLOSED
    assert of_number(errno.EACCES) is Fault.UNKNOWN


def test_a_fault_of_the_outbound_proxy_is_told_from_that_of_the_upstream() -> None:
    assert [of_proxy_status(status) for status in (200, 299, 302, 403, 405, 407, 500, 503, 101)] == [
        *(None, None, Fault.PROXY_FAILED, Fault.PROXY_DENIED, Fault.PROXY_DENIED, Fault.PROXY_CREDENTIALS),
        *(Fault.PROXY_FAILED, Fault.PROXY_FAILED, Fault.PROXY_FAILED),
    ]
    of_own = {Fault.OWN_LISTENER: Fault.PROXY_IS_OURS, Fault.REFUSED: Fault.PROXY_UNREACHABLE}
    assert {fault: of_proxy(fault) for fault in of_own} == of_own
    for fault in (Fault.UNTRUSTED, Fault.OTHER_NAME, Fault.EXPIRED, Fault.NO_TLS):
        assert of_proxy(fault) is Fault.PROXY_TLS
