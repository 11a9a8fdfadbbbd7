"""Identifies the caller of a request: by its gateway key or, on the proxy, by the credential meant for the provider."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from gateway.auth.api_keys import KeyRing
from gateway.auth.credentials import PROVIDER_CREDENTIALS, KeySearch, refuse_repeated
from gateway.auth.key_permissions import check_scope
from gateway.auth.query_key import take_keys
from gateway.auth.quotas import Quotas
from gateway.auth.rate_limit import RateLimiter
from gateway.errors import BadRequest, Unauthorized
from gateway.http.types import Field
from gateway.models import Caller, Scope


class Callers:
    """Identifies callers, counts their requests, and keeps gateway keys away from upstreams.

    `digest_key` derives the ids of proxy clients that send no gateway key.
    """

    def __init__(
        self, keys: KeyRing, limits: RateLimiter, quotas: Quotas, key_search: KeySearch, digest_key: bytes
    ) -> None:
        self._keys = keys
        self._limits = limits
        self._quotas = quotas
        self._key_search = key_search
        self._digest_key = digest_key

    def authenticate(self, fields: Iterable[Field], query: str = "") -> Caller:
        """Identifies the caller and counts the request against the key's rate and quotas.

        Raises Unauthorized, and TooManyRequests beyond the rate or a quota.
        """
        caller = self.identify(fields, query)
        self._count(caller)
        return caller

    def _count(self, caller: Caller) -> None:
        self._limits.check(caller.key_id)
        self._quotas.charge(caller, requests=1)

    def identify(self, fields: Iterable[Field], query: str = "") -> Caller:
        """Identifies the caller by its gateway key, without counting the request.

        The key is in `X-SVC-Key`, else where a provider's client puts its own: `Authorization: Bearer`, `x-api-key`,
        `api-key`, `x-goog-api-key` or the query's `key`. Raises Unauthorized.
        """
        secret = _gateway_key({name.lower(): value.decode("utf-8", "surrogateescape") for name, value in fields}, query)
        if not secret:
            raise Unauthorized("Send a gateway key as `Authorization: Bearer …`, `X-SVC-Key` or your client's API key.")
        return self._keys.authenticate(secret)

    def key_id(self, fields: Iterable[Field], query: str = "", *, proxied: bool = False) -> str | None:
        """Returns the id of the gateway key that a call was sent with: None without one, empty if it is not valid."""
        given = {name.lower(): value.decode("utf-8", "surrogateescape") for name, value in fields}
        secret = given.get(b"x-svc-key") if proxied else _gateway_key(given, query)
        return self._keys.key_id(secret) if secret else None

    def authenticate_proxied(self, path: str, fields: Sequence[Field]) -> Caller:
        """Identifies a proxy client, and counts the request as `authenticate` does if it sends a gateway key.

        Raises as `identify_proxied` does; TooManyRequests; Forbidden for a key without the scope `chat`.
        """
        caller = self.identify_proxied(path, fields)
        check_scope(caller, Scope.CHAT)
        if any(name.lower() == b"x-svc-key" for name, _ in fields):
            self._count(caller)
        return caller

    def identify_proxied(self, path: str, fields: Sequence[Field]) -> Caller:
        """Identifies a proxy client by `X-SVC-Key`, else by a digest of its provider credentials.

        Clients that send no credential at all share one caller. `path` includes the query. Raises Unauthorized for an
        invalid gateway key, and for a gateway key anywhere but in `X-SVC-Key`; BadRequest for a
        repeated credential.
        """
        refuse_repeated(fields)
        others = [(name, value) for name, value in fields if name.lower() != b"x-svc-key"]
        if self._key_search.in_fields([(path.encode("utf-8", "surrogateescape"), b""), *others]):
            raise Unauthorized("A gateway key was sent outside `X-SVC-Key`, where the provider would read it.")
        given = {name.lower(): value for name, value in fields}
        if b"x-svc-key" in given:
            return self.identify([(b"x-svc-key", given[b"x-svc-key"])])
        sent = [given[name] for name in sorted(PROVIDER_CREDENTIALS) if name in given]
        key_id = "proxy_" + sha256(self._digest_key + b"\n".join(sent)).hexdigest()[:16]
        return Caller(key_id, Scope.CLIENT, identified=any(sent))

    def own_credentials(self, fields: Sequence[Field]) -> frozenset[bytes]:
        """Returns the headers with the client's own credentials for the upstream, if `X-SVC-Key` has the gateway key.

        A gateway key sent there by mistake does not count, so it never reaches the upstream.
        """
        given = {name.lower(): value for name, value in fields}
        if b"x-svc-key" not in given:
            return frozenset()
        return frozenset(
            name for name in PROVIDER_CREDENTIALS & given.keys() if not self._key_search.in_bytes(given[name])
        )

    def refuse_gateway_key(self, fields: Sequence[Field]) -> None:
        """Raises BadRequest if header fields that go to the upstream hold a gateway key."""
        if self._key_search.in_fields(fields):
            raise BadRequest("A gateway key was sent in a header that goes to the upstream; send it as `X-SVC-Key`.")


def _gateway_key(given: Mapping[bytes, str], query: str) -> str | None:
    if b"x-svc-key" in given:
        return given[b"x-svc-key"]
    scheme, _, value = given.get(b"authorization", "").partition(" ")
    found = [value.strip() if scheme.lower() == "bearer" else ""]
    found += [given.get(name, "") for name in (b"x-api-key", b"api-key", b"x-goog-api-key")]
    found += [key.decode("utf-8", "surrogateescape") for key in take_keys(query)[1]]
    return next(filter(None, found), None)
