"""Replaces mitmproxy's HTML error pages, which may quote the request, by the gateway's error responses.

Some errors occur below the hooks: a body over the limit, a malformed head, an upstream that cannot be reached.
Upstream would have to offer a hook or an option that renders these pages.
"""

from mitmproxy.proxy.layers.http import _http1

from addons.mitm_errors import error_response

CHECKED_WITH = "12.2.3"


def speak_json() -> None:
    """Replaces the function that renders mitmproxy's error pages, in this process."""
    _http1.make_error_response = error_response
