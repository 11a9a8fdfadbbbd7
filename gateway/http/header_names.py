"""Lists the request headers that may be sent to an upstream, and checks those that the operator adds."""

import re

# Sent by clients of model providers: the program and its version, the version of the interface, and ids of retries.
# None of them is meant for text of the client's own.
HARMLESS = frozenset(
    b"""
    accept user-agent cache-control pragma
    openai-beta openai-organization openai-project openai-version
    anthropic-version anthropic-beta anthropic-dangerous-direct-browser-access
    x-stainless-arch x-stainless-async x-stainless-custom-poll-interval x-stainless-helper x-stainless-helper-method
    x-stainless-lang x-stainless-os x-stainless-package-version x-stainless-poll-helper x-stainless-raw-response
    x-stainless-read-timeout x-stainless-retry-count x-stainless-runtime x-stainless-runtime-version
    x-stainless-stream-helper x-stainless-timeout
    x-goog-api-client x-goog-user-project
    idempotency-key x-idempotency-key x-request-id x-client-request-id x-ms-client-request-id x-title
    """.split()
)
# RFC 9110 section 7.6.1: between two neighbours only.
HOP_BY_HOP = frozenset(
    b"""
    connection keep-alive proxy-connection te trailer transfer-encoding upgrade
    proxy-authenticate proxy-authorization proxy-authentication-info
    """.split()
)
# Set for each forwarded request, or credentials, which have rules of their own.
_WRITTEN = frozenset(
    b"""
    host content-length content-type content-encoding accept-encoding expect
    authorization x-api-key api-key x-goog-api-key x-amz-security-token ocp-apim-subscription-key cookie set-cookie
    """.split()
)
_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,128}\Z")


def check_header_name(name: str) -> str:
    """Returns the name of a header that may be sent, in lower case. Raises ValueError without repeating it."""
    lowered = name.strip().lower()
    encoded = lowered.encode("utf-8", "surrogatepass")
    if not _NAME.match(lowered):
        raise ValueError("a header's name consists of letters, digits and hyphens, without its value")
    if encoded in HOP_BY_HOP | _WRITTEN or encoded.startswith(b"x-svc-"):
        raise ValueError("credentials, cookies and headers of the connection cannot be forwarded")
    return lowered
