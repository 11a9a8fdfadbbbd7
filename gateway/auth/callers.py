"""Identifies the caller of a request: by its gateway key or, on the proxy, by the credential meant for the provider."""

from collections.abc import Sequence
from hashlib import sha256

from gateway.auth.api_keys import KeyRing
from gateway.auth.credentials import PROVIDER_CREDENTIALS, KeySearch, refuse_repeated
from gateway.auth.rate_limit import RateLimiter
from gateway.errors import BadRequest, Unauthorized
from gateway.http.types import Field
from gateway.models import Caller, Scope


class Callers:
    """Identifies callers, counts their requests, and keeps gateway keys away from upstreams.

    `digest_key` derives the ids of proxy clients that send no gateway key.
    """

    def __init__(self, keys: KeyRing, limits: RateLimiter, key_search: KeySearch, digest_key: bytes) -> None:
        self._keys = keys
        self._limits = limits
        self._key_search = key_search
        self._digest_key = digest_key

    def authenticate(self, authorization: str | None, svc_key: str | None) -> Caller:
        """Identifies the caller and counts the request against the key's rate.

        Raises Unauthorized, and TooManyRequests beyond the rate.
        """
        caller = self.identify(authorization, svc_key)
        self._limits.check(caller.key_id)
        return caller

    def identify(self, authorization: str | None, svc_key: str | None) -> Caller:
        """Identifies the caller by `X-SVC-Key`, else by `Authorization: Bearer`, without counting the request.

        Raises Unauthorized.
        """
        secret = svc_key
        if secret is None and authorization is not None:
            scheme, _, value = authorization.partition(" ")
            secret = value.strip() if scheme.lower() == "bearer" else None
        if not secret:
            raise Unauthorized("Send a key as `Authorization: Bearer …` or `X-SVC-Key`.")
        return self._keys.authenticate(secret)

    def authenticate_proxied(self, path: str, fields: Sequence[Field]) -> Caller:
        """Identifies a proxy client: by `X-SVC-Key`, else by a digest of its provider credentials.

        Clients that send no credential at all share one caller. `path` includes the query. Raises Unauthorized for an
        invalid gateway key, and for a gateway key anywhere but in `X-SVC-Key`; BadRequest for a repeated credential;
        TooManyRequests beyond the key's rate.
        """
        refuse_repeated(fields)
        others = [(name, value) for name, value in fields if name.lower() != b"x-svc-key"]
        if self._key_search.in_fields([(path.encode("utf-8", "surrogateescape"), b""), *others]):
            raise Unauthorized("A gateway key was sent outside `X-SVC-Key`, where the provider would read it.")
        given = {name.lower(): value for name, value in fields}
        if b"x-svc-key" in given:
            return self.authenticate(None, given[b"x-svc-key"].decode("latin-1"))
        sent = [given[name] for name in sorted(PROVIDER_CREDENTIALS) if name in given]
        key_id = "proxy_" + sha256(self._digest_key + b"\n".join(sent)).hexdigest()[:16]
        return Caller(key_id, Scope.CLIENT, identified=any(sent))

    def sends_own_credential(self, fields: Sequence[Field]) -> bool:
        """Tells whether `Authorization` is meant for the upstream: it is where `X-SVC-Key` holds the gateway key.

        A gateway key sent there by mistake does not count, so it never reaches the upstream.
        """
        given = {name.lower(): value for name, value in fields}
        own = given.get(b"authorization") if b"x-svc-key" in given else None
        return own is not None and not self._key_search.in_bytes(own)

    def refuse_gateway_key(self, fields: Sequence[Field]) -> None:
        """Raises BadRequest if header fields that go to the upstream hold a gateway key."""
        if self._key_search.in_fields(fields):
            raise BadRequest("A gateway key was sent in a header that goes to the upstream; send it as `X-SVC-Key`.")
