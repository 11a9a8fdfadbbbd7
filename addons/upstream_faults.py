"""Classifies mitmproxy's error messages about upstreams.

They may quote addresses and data from the upstream, so only known prefixes are compared and nothing is repeated.
"""

import re

from mitmproxy import http
from mitmproxy.connection import ConnectionState
from mitmproxy.flow import Error

from addons.mitm_errors import OWN_LISTENER_REFUSED
from gateway.http.upstream_failures import Fault, of_number

_NUMBER = re.compile(r"\[Errno (-?[0-9]{1,6})\]")
_CERTIFICATE = "Certificate verify failed: "
# Order matters: some of the messages share a prefix.
_BEGINNINGS = (
    (f"{_CERTIFICATE}certificate has expired", Fault.EXPIRED),
    (f"{_CERTIFICATE}certificate is not yet valid", Fault.EXPIRED),
    (f"{_CERTIFICATE}hostname mismatch", Fault.OTHER_NAME),
    (f"{_CERTIFICATE}IP address mismatch", Fault.OTHER_NAME),
    (_CERTIFICATE, Fault.UNTRUSTED),
    ("The remote server does not speak TLS", Fault.NO_TLS),
    ("The remote server and mitmproxy cannot agree", Fault.NO_TLS),
    ("OpenSSL ", Fault.NO_TLS),
    ("tlsv1 alert", Fault.NO_TLS),
    ("sslv3 alert", Fault.NO_TLS),
    ("ssl/tls alert", Fault.NO_TLS),
    ("connection closed", Fault.CLOSED),
    ("server closed connection", Fault.CLOSED),
    ("HTTP/1 protocol error: peer closed", Fault.CLOSED),
    ("HTTP/1 protocol error: ", Fault.UNREADABLE),
    ("Cannot parse HTTP response", Fault.UNREADABLE),
    ("unexpected server response", Fault.UNREADABLE),
    ("Received ", Fault.UNREADABLE),
    ("Response body exceeds", Fault.TOO_LARGE),
)


def fault_of(flow: http.HTTPFlow) -> Fault | None:
    """Returns the fault of the upstream of a failed flow; None if the client disconnected or the gateway ended it."""
    said = flow.error.msg if flow.error else ""
    if said == Error.KILLED_MESSAGE or not flow.client_conn.state & ConnectionState.CAN_READ:
        return None
    return fault_in(said)


def fault_in(said: str) -> Fault:
    """Returns the fault that a message of mitmproxy describes."""
    if said == OWN_LISTENER_REFUSED:
        return Fault.OWN_LISTENER
    for beginning, fault in _BEGINNINGS:
        if said.startswith(beginning):
            return fault
    numbers = [of_number(int(number)) for number in _NUMBER.findall(said)]
    # One number for every address of the name; the first known one counts.
    return next((fault for fault in numbers if fault is not Fault.UNKNOWN), Fault.UNKNOWN)
