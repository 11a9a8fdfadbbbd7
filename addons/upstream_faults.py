"""What mitmproxy says of an upstream that failed: a sentence, which may quote addresses and what the upstream sent.

Only the beginnings that are known are looked at, and nothing of it is repeated.
"""

import re

from mitmproxy import http
from mitmproxy.connection import ConnectionState
from mitmproxy.flow import Error

from addons.mitm_errors import OWN_LISTENER_REFUSED
from gateway.http.upstream_failures import Fault, of_number

_NUMBER = re.compile(r"\[Errno (-?[0-9]{1,6})\]")
_CERTIFICATE = "Certificate verify failed: "
# In this order: mitmproxy tells of some in sentences that begin alike.
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
    """What the upstream of a broken flow did; None where it was the client that left, or the flow was ended here."""
    said = flow.error.msg if flow.error else ""
    if said == Error.KILLED_MESSAGE or not flow.client_conn.state & ConnectionState.CAN_READ:
        return None
    return fault_in(said)


def fault_in(said: str) -> Fault:
    """What a sentence of mitmproxy's says of an upstream."""
    if said == OWN_LISTENER_REFUSED:
        return Fault.OWN_LISTENER
    for beginning, fault in _BEGINNINGS:
        if said.startswith(beginning):
            return fault
    numbers = [of_number(int(number)) for number in _NUMBER.findall(said)]
    # One for every address of a name; any that says something says it of the upstream.
    return next((fault for fault in numbers if fault is not Fault.UNKNOWN), Fault.UNKNOWN)
