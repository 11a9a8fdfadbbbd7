"""The corrections that hold for a request: its own, and the stored ones of its key and of everyone."""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from hashlib import sha256
from unicodedata import normalize

from gateway.corrections.given import Denied, Given
from gateway.models import CORRECTION, Entity
from gateway.policy.document import DenyDocument
from gateway.policy.lists import spellings
from gateway.policy.matching import Matcher


def matcher_of(denied: Iterable[Denied]) -> Matcher | None:
    """Returns what finds denied values: whole words in any case, as the deny list of a policy."""
    terms: dict[str, list[str]] = {}
    for type, value in denied:
        # A value without visible characters is in no text.
        if spellings(value):
            terms.setdefault(type, []).append(value)
    documents = [DenyDocument(type=type, terms=values) for type, values in terms.items()]
    return Matcher(documents, (), CORRECTION) if documents else None


class AllowDigests:
    """Makes the digests of the values that one owner allows. Those of two owners cannot be compared."""

    __slots__ = ("_keyed",)

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")

    def digest(self, value: str) -> bytes:
        """Returns the digest of a value, which is compared as in the allow list of a policy."""
        mac = self._keyed.copy()
        mac.update(normalize("NFC", value).encode())
        return mac.digest()


@dataclass(frozen=True, slots=True, repr=False)
class OwnerLists:
    """The stored lists of a key, or of everyone. `allowed` has the types that a digest is limited to, if any.

    `mark` changes with every list.
    """

    digests: AllowDigests
    allowed: Mapping[bytes, frozenset[str]]
    denied: tuple[Denied, ...]
    mark: bytes
    matcher: Matcher | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matcher", matcher_of(self.denied))

    def allows(self, type: str, value: str) -> bool:
        """Whether the whole `value` is allowed for entities of `type`."""
        if not self.allowed:
            return False
        types = self.allowed.get(self.digests.digest(value))
        return types is not None and (not types or type in types)


class Corrections:
    """The corrections of one request. Its repr shows none of them."""

    __slots__ = ("_allow", "_allows", "_lists", "_matchers", "digest", "given")

    def __init__(self, given: Given, lists: Sequence[OwnerLists] = ()) -> None:
        self.given = given
        self._allow = {normalize("NFC", value) for value in given.allow}
        self._allows = True
        self._lists = lists
        matchers = [matcher_of(given.deny), *(each.matcher for each in lists)]
        self._matchers = [each for each in matchers if each is not None]
        content = repr((sorted(self._allow), sorted(given.deny), [each.mark for each in lists]))
        self.digest = sha256(content.encode()).digest()
        """Changes with every correction."""

    def allows(self, type: str, value: str) -> bool:
        """Whether the caller has the whole `value` left in clear, wherever the policy permits that."""
        if not self._allows:
            return False
        return normalize("NFC", value) in self._allow or any(each.allows(type, value) for each in self._lists)

    def find(self, text: str) -> tuple[Entity, ...]:
        """Finds the denied values, as findings of the recognizer `correction`. They may overlap.

        Raises Unavailable (`detection_failed`) if the search is incomplete.
        """
        return tuple(entity for each in self._matchers for entity in each.find(text))

    @property
    def denied_types(self) -> frozenset[str]:
        """The types as which values are denied."""
        stored = (each for one in self._lists for each in one.denied)
        return frozenset(each.type for each in (*self.given.deny, *stored))

    def denials(self) -> "Corrections | None":
        """Returns the same without what is allowed, for text that is never changed; None if nothing is left."""
        if not self._matchers:
            return None
        result = copy(self)
        result._allows, result.digest = False, sha256(b"denials" + self.digest).digest()
        return result
