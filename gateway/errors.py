"""Defines the errors that the gateway answers with. `gateway/api/error_handlers.py` turns them into responses.

GatewayError
├── BadRequest            400  invalid_json, invalid_encoding, invalid_request, streaming_not_supported,
│   │                          signature_not_supported, tls_required, unknown_event
│   ├── LateRequest       408  request_timeout
│   ├── UpgradeRefused    426  upgrade_refused
│   └── HeadTooLarge      431  head_too_large
├── Unauthorized          401  unauthorized, key_expired
├── Forbidden             403  forbidden, scope_not_permitted, policy_not_permitted, model_not_permitted,
│   │                          blocked_by_policy, local_surface_required, stopped_by_operator, private_destination,
│   │                          unprotected_host, contained_program
│   └── EditRefused       403  edit_refused
├── NotFound              404  not_found, session_not_found, receipt_not_found, policy_not_found, policy_retired,
│                              model_not_found, findings_not_found, thread_not_found, unknown_route
├── MethodNotAllowed      405  method_not_allowed
├── ProxyKeyRequired      407  proxy_key_required
├── Conflict              409  conflict
├── Gone                  410  session_expired
├── TooLarge              413  body_too_large
├── UnsupportedMedia      415  unsupported_media_type, unsupported_encoding, attachment_refused
├── Unprocessable         422  validation_error
├── TooManyRequests       429  rate_limited, quota_exceeded
├── InternalError         500  internal_error
├── BadUpstream           502  upstream_unreachable, upstream_invalid
├── Unavailable           503  detection_failed, detection_timeout, gateway_unavailable, store_unavailable, overloaded,
│                              stopping, receipt_log_broken, corrections_broken
└── UpstreamTimeout       504  upstream_timeout

A message says what went wrong, then what to do. It never repeats a rejected value, because the value may be private.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

from gateway.models import Caller, Entity, ReceiptRef, RefusedText

# Errors that may pass when the request is sent again, and those of their codes that do not.
_WORTH_RETRYING = frozenset({408, 409, 429, 502, 503, 504})
_PERMANENT = frozenset({"receipt_log_broken", "corrections_broken", "quota_exceeded"})


class GatewayError(Exception):
    """An error with an HTTP status, a stable `code` and, if it concerns a field, the field's name as `param`.

    `retry_after` is in seconds. `receipt` names the receipt that was written before the error, if any; `caller` is
    the one that gets it, if known.
    """

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "internal_error"
    kind: ClassVar[str] = "api_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.param = param
        self.retry_after = retry_after
        self.receipt: ReceiptRef | None = None
        self.caller: Caller | None = None
        # For the receipt of the refusal: the text in numbers, and who asked whom.
        self.refused: RefusedText | None = None
        self.parties: Mapping[str, str] = {}
        self.hidden: Sequence[Entity] = ()
        self.kept: Sequence[Entity] = ()
        # Which corrections of the caller had an effect.
        self.applied: Any = None
        # The fields with findings, and these; for their caller.
        self.found_in: Sequence[tuple[Any, Sequence[Any]]] = ()

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle restores only positional arguments, and errors travel between processes.
        make = partial(type(self), code=self.code, param=self.param, retry_after=self.retry_after)
        return make, (self.message,), {"receipt": self.receipt, "caller": self.caller}

    def body(self, request_id: str) -> dict[str, object]:
        """Returns the error body of the native and chat-completions endpoints."""
        error = {"code": self.code, "message": self.message, "type": self.kind, "param": self.param}
        return {"error": error, "request_id": request_id}

    def headers(self, request_id: str) -> dict[str, str]:
        """Returns the header fields of the error response (RFC 9110 sections 10.2.3, 11.6.1 and 11.7.1)."""
        fields = {"x-svc-request-id": request_id}
        if self.retry_after is not None:
            fields["retry-after"] = str(self.retry_after)
        if self.status == 401:
            fields["www-authenticate"] = "Bearer"
        if self.status == 407:
            fields["proxy-authenticate"] = 'Basic realm="privacy-gateway"'
        if self.status not in _WORTH_RETRYING or self.code in _PERMANENT:
            # The SDKs of providers obey it. Without it, some clients repeat a request with a wrong key for minutes.
            fields["x-should-retry"] = "false"
        return fields


class BadRequest(GatewayError):
    status, default_code, kind = 400, "invalid_request", "invalid_request_error"


class LateRequest(BadRequest):
    status, default_code = 408, "request_timeout"


class UpgradeRefused(BadRequest):
    """426, since clients that try a WebSocket first then fall back to POST at once."""

    status, default_code = 426, "upgrade_refused"


class HeadTooLarge(BadRequest):
    status, default_code = 431, "head_too_large"


class Unauthorized(GatewayError):
    status, default_code, kind = 401, "unauthorized", "authentication_error"


class Forbidden(GatewayError):
    status, default_code, kind = 403, "forbidden", "permission_error"


class EditRefused(Forbidden):
    """An operator's edit would let private text out. `found` tells the operator, not the client, what is where."""

    default_code = "edit_refused"
    reason = ""
    found: Sequence[str] = ()

    @classmethod
    def because(cls, reason: str, found: Sequence[str] = ()) -> Self:
        """Builds the error. `reason` says what is wrong with the edit, then what to do."""
        error = cls(f"An operator's edit of this request was refused: {reason}")
        error.reason, error.found = reason, found
        return error

    def __reduce__(self) -> tuple[object, ...]:
        make, arguments, state = super().__reduce__()
        assert isinstance(state, dict)
        return make, arguments, {**state, "reason": self.reason, "found": self.found}


class NotFound(GatewayError):
    status, default_code, kind = 404, "not_found", "invalid_request_error"


class MethodNotAllowed(GatewayError):
    status, default_code, kind = 405, "method_not_allowed", "invalid_request_error"


class ProxyKeyRequired(GatewayError):
    status, default_code, kind = 407, "proxy_key_required", "authentication_error"


class Conflict(GatewayError):
    status, default_code, kind = 409, "conflict", "invalid_request_error"


class Gone(GatewayError):
    status, default_code, kind = 410, "session_expired", "invalid_request_error"


class TooLarge(GatewayError):
    status, default_code, kind = 413, "body_too_large", "invalid_request_error"


class UnsupportedMedia(GatewayError):
    status, default_code, kind = 415, "unsupported_media_type", "invalid_request_error"


class Unprocessable(GatewayError):
    status, default_code, kind = 422, "validation_error", "invalid_request_error"


class TooManyRequests(GatewayError):
    status, default_code, kind = 429, "rate_limited", "rate_limit_error"


class InternalError(GatewayError):
    status, default_code, kind = 500, "internal_error", "api_error"


class BadUpstream(GatewayError):
    status, default_code, kind = 502, "upstream_unreachable", "upstream_error"


class Unavailable(GatewayError):
    status, default_code, kind = 503, "store_unavailable", "api_error"


class UpstreamTimeout(GatewayError):
    status, default_code, kind = 504, "upstream_timeout", "upstream_error"
