"""Identifies the caller of a request: by its gateway key or, on the proxy, by the credential meant for the provider."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from gateway.auth.api_keys import KeyRing
from gateway.auth.credential_digests import CredentialDigests
from gateway.auth.credentials import PROVIDER_CREDENTIALS, KeySearch, refuse_repeated
from gateway.auth.key_permissions import check_scope
from gateway.auth.query_key import take_keys
from gateway.auth.quotas import Quotas
from gateway.auth.rate_limit import RateLimiter
from gateway.auth.signatures import is_signature
from gateway.errors import BadRequest, Unauthorized
from gateway.http.types import Field
from gateway.models import Caller, Scope

_OWN_KEY = b"x-svc-key"
# Paths of clients that may send their key in the query. Elsewhere, `key` is a parameter of its own.
_GEMINI = "/v1beta/"


class Callers:
    """Identifies callers, counts their requests, and keeps gateway keys away from upstreams.

    `digest_key` derives the ids of proxy clients that send no gateway key.
    """

    def __init__(
        self,
        keys: KeyRing,
        limits: RateLimiter,
        quotas: Quotas,
        key_search: KeySearch,
        digest_key: bytes,
        credentials: CredentialDigests,
    ) -> None:
        self._keys = keys
        self._limits = limits
        self._quotas = quotas
        self._key_search = key_search
        self._digest_key = digest_key
        self._credentials = credentials

    def authenticate(self, fields: Iterable[Field], path: str = "") -> Caller:
        """Identifies the caller and counts the request against the key's rate and quotas.

        Raises Unauthorized, and TooManyRequests beyond the rate or a quota.
        """
        caller = self.identify(fields, path)
        self._count(caller)
        return caller

    def _count(self, caller: Caller) -> None:
        self._limits.check(caller.key_id)
        self._quotas.charge(caller, requests=1)

    def identify(self, fields: Iterable[Field], path: str = "") -> Caller:
        """Identifies the caller by its gateway key, without counting the request.

        The key is in `X-SVC-Key`, else where a provider's client puts its own: `Authorization: Bearer`, `x-api-key`,
        `api-key`, `x-goog-api-key`, or the query's `key` in `path` where that is one of Gemini's. Raises Unauthorized.
        """
        given = {name.lower(): value for name, value in fields}
        secret = _gateway_key(given, path)
        if not secret:
            raise Unauthorized("Send a gateway key as `Authorization: Bearer …`, `X-SVC-Key` or your client's API key.")
        caller = self._keys.authenticate(secret)
        credential = self._credential(given) if _OWN_KEY in given else ""
        return replace(caller, credential=credential) if credential else caller

    def audited(self, fields: Iterable[Field], path: str = "", *, proxied: bool = False) -> tuple[str | None, str]:
        """Returns the id of the key that a call was sent with, and the digest of the provider's credential.

        The id is None without a key, and empty if it is not valid. That of a proxy client without a gateway key is of
        its credential.
        """
        given = {name.lower(): value for name, value in fields}
        secret = _shown(given[_OWN_KEY]) if _OWN_KEY in given else ""
        credential = self._credential(given) if proxied or secret else ""
        if proxied and not secret:
            return ("" if self._key_search.in_fields(given.items()) else self._proxy_id(given)), credential
        secret = secret or _gateway_key(given, path)
        return (self._keys.key_id(secret) if secret else None), credential

    def _credential(self, given: Mapping[bytes, bytes]) -> str:
        """Returns the digest of the provider's credential in a call; a gateway key is none."""
        return self._credentials.of_call({name: given[name] for name in self._own_credentials(given)})

    def _proxy_id(self, given: Mapping[bytes, bytes]) -> str:
        # A signature is another one for each request.
        sent = [given[name] for name in sorted(PROVIDER_CREDENTIALS) if name in given and not is_signature(given[name])]
        return "proxy_" + sha256(self._digest_key + b"\n".join(sent)).hexdigest()[:16]

    def authenticate_proxied(self, path: str, fields: Sequence[Field]) -> Caller:
        """Identifies a proxy client, and counts the request as `authenticate` does if it sends a gateway key.

        Raises as `identify_proxied` does; TooManyRequests; Forbidden for a key without the scope `chat`.
        """
        caller = self.identify_proxied(path, fields)
        check_scope(caller, Scope.CHAT)
        if any(name.lower() == _OWN_KEY for name, _ in fields):
            self._count(caller)
        return caller

    def identify_proxied(self, path: str, fields: Sequence[Field]) -> Caller:
        """Identifies a proxy client by `X-SVC-Key`, else by a digest of its provider credentials.

        Clients that send no credential at all share one caller. `path` includes the query. Raises Unauthorized for an
        invalid gateway key, and for a gateway key anywhere but in `X-SVC-Key`; BadRequest for a
        repeated credential.
        """
        refuse_repeated(fields)
        others = [(name, value) for name, value in fields if name.lower() != _OWN_KEY]
        if self._key_search.in_fields([(path.encode("utf-8", "surrogateescape"), b""), *others]):
            raise Unauthorized("A gateway key was sent outside `X-SVC-Key`, where the provider would read it.")
        given = {name.lower(): value for name, value in fields}
        if _OWN_KEY in given:
            return self.identify(fields)
        sent = any(given.get(name) for name in PROVIDER_CREDENTIALS)
        return Caller(self._proxy_id(given), Scope.CLIENT, identified=sent, credential=self._credential(given))

    def secret_of(self, caller: Caller, fields: Sequence[Field], path: str) -> bytes:
        """Derives a secret from the credential of a call: the caller's gateway key, or else the provider's."""
        given = {name.lower(): value for name, value in fields}
        sent = [given[name] for name in sorted(PROVIDER_CREDENTIALS) if name in given and not is_signature(given[name])]
        own = [_gateway_key(given, path).encode("utf-8", "surrogateescape")] if caller.has_key else sent
        return sha256(self._digest_key + b"batches\n" + b"\n".join(own)).digest()

    def own_credentials(self, fields: Sequence[Field]) -> frozenset[bytes]:
        """Returns the headers with the client's own credentials for the upstream, if `X-SVC-Key` has the gateway key.

        A gateway key sent there by mistake does not count, so it never reaches the upstream, nor does an AWS signature.
        """
        given = {name.lower(): value for name, value in fields}
        return self._own_credentials(given) if _OWN_KEY in given else frozenset()

    def _own_credentials(self, given: Mapping[bytes, bytes]) -> frozenset[bytes]:
        found = [name for name in PROVIDER_CREDENTIALS & given.keys() if not is_signature(given[name])]
        return frozenset(name for name in found if not self._key_search.in_bytes(given[name]))

    def refuse_gateway_key(self, fields: Sequence[Field]) -> None:
        """Raises BadRequest if header fields that go to the upstream hold a gateway key."""
        if self._key_search.in_fields(fields):
            raise BadRequest("A gateway key was sent in a header that goes to the upstream; send it as `X-SVC-Key`.")


def _gateway_key(given: Mapping[bytes, bytes], path: str) -> str:
    """Returns the gateway key of a call; empty without one. `path` includes the query."""
    if _OWN_KEY in given:
        return _shown(given[_OWN_KEY])
    scheme, _, value = given.get(b"authorization", b"").partition(b" ")
    found = [value.strip() if scheme.lower() == b"bearer" else b""]
    found += [given.get(name, b"") for name in (b"x-api-key", b"api-key", b"x-goog-api-key")]
    place, _, query = path.partition("?")
    if place.startswith(_GEMINI):
        found += take_keys(query)[1]
    return _shown(next(filter(None, found), b""))


def _shown(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
