"""Mints, finds and restores the placeholders of a session.

A placeholder is `[TYPE_TAG]`; the tag is derived from HMAC-SHA256(session key, type, value, spelling). There is no
counter and no stored state, so the same conversation gives the same bytes on every worker and at every turn.
"""

import hmac
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gateway.destinations.rule import RestoreScope
from gateway.http.strict_json import is_json
from gateway.placeholders.grammar import (
    LONGEST_TAG,
    SHORTEST_TAG,
    Found,
    canonical,
    encode_tag,
    is_type,
    type_of,
)
from gateway.placeholders.json_text import (
    NUMBER,
    Piece,
    as_literal,
    escape_json,
    fitted,
    is_document,
    is_url,
    keyed_literals,
    splice,
    unquoted,
    without_blanks,
)
from gateway.placeholders.matcher import Vocabulary, scan
from gateway.placeholders.url_policy import withheld


class Known(NamedTuple):
    """A value of a session.

    `raw` is its spelling inside a JSON document, if not canonical: with other escapes, or `NUMBER` and the token of a
    JSON number.
    """

    placeholder: str
    type: str
    value: str
    raw: str | None = None

    def __repr__(self) -> str:
        return f"Known({self.placeholder})"

    @property
    def number(self) -> str | None:
        """The token, if the value was a JSON number."""
        return self.raw.removeprefix(NUMBER) if self.raw and self.raw.startswith(NUMBER) else None

    @property
    def own(self) -> str | None:
        """The spelling between the quotes of a JSON string, if not canonical."""
        return self.raw if self.raw and not self.raw.startswith(NUMBER) else None

    @property
    def spelled(self) -> str:
        """The value as written between the quotes of a JSON string."""
        return self.own or escape_json(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Restored:
    """A restored text. The URL rule kept the placeholders `withheld`; `unknown` belong to no value of the session."""

    text: str
    resolved: int
    withheld: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RestoredTree:
    """A restored JSON value; see `Restored`. Also `withheld` are placeholders in keys that would become equal."""

    value: Any
    resolved: int
    withheld: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def conversation_key(installation_key: bytes, caller: str, seed: str) -> bytes:
    """Derives the 32-byte session key of a chat (HKDF-SHA256, RFC 5869). A conversation always has the same key."""
    context = b"".join(map(_framed, ("privacy-gateway conversation v1", caller, seed)))
    # One block of HKDF without a salt.
    return _hmac(_hmac(bytes(32), installation_key), context + b"\x01")


class Placeholders:
    """The values of a session. Not thread-safe.

    Values of the first `opening_blocks` blocks of a conversation are minted with `opening_key`.
    """

    def __init__(
        self, key: bytes, known: Iterable[Known] = (), *, opening_blocks: int = 0, opening_key: bytes = b""
    ) -> None:
        self._key = self._own_key = key
        self._opening_blocks, self._opening_key = opening_blocks, opening_key
        # By type. A copy takes half as long as a new one, which would begin with the key.
        self._macs: dict[str, hmac.HMAC] = {}
        # Keys are placeholders without brackets.
        self._by_core: dict[str, Known] = {}
        self._by_value: dict[tuple[str, str, str | None], str] = {}
        self.vocabulary = Vocabulary()
        self._fresh: dict[str, Known] = {}
        self._digests: dict[str, bytes] = {}
        self._taken: set[str] = set()
        # The guard and the restoring search the same texts one after the other.
        self._scanned: dict[str, list[Found]] = {}
        self._closed: dict[tuple[str, RestoreScope], Mapping[int, Sequence[str]]] = {}
        for entry in known:
            self._add(entry)

    def __repr__(self) -> str:
        return f"Placeholders({len(self._by_core)} values)"

    def __len__(self) -> int:
        return len(self._by_core)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process gets the values without the key: it restores, and cannot mint.
        return Placeholders, (b"", self.entries())

    def enter(self, block: int) -> None:
        """Starts a block of the conversation. Values that have a placeholder keep it."""
        key = self._opening_key if block < self._opening_blocks else self._own_key
        if key is not self._key:
            self._key, self._macs = key, {}

    def mint(self, type: str, value: str, *, raw: str | None = None) -> str:
        """Returns the placeholder of a value, always the same for the same type, value and `raw` (see `Known`).

        If two values share a tag, the later one gets a longer tag. Raises ValueError for an invalid type, and
        without a key.
        """
        if (minted := self._by_value.get((type, value, raw))) is not None:
            return minted
        if type not in self.vocabulary.types and not is_type(type):
            raise ValueError("a type is an upper-case name of 64 characters or fewer")
        if not self._key:
            raise ValueError("placeholders without a key only restore")
        started = self._macs.get(type)
        if started is None:
            started = self._macs[type] = hmac.new(self._key, _framed(type), "sha256")
        mac = started.copy()
        mac.update(_framed(value) + _framed(raw))
        return self._issue(type, value, raw, mac.digest())

    def _issue(self, type: str, value: str, raw: str | None, digest: bytes) -> str:
        name = self._free(type, digest)
        entry = Known(name, type, value, raw)
        self._add(entry)
        self._fresh[name], self._digests[name] = entry, digest
        return name

    def _free(self, type: str, digest: bytes) -> str:
        for length in range(SHORTEST_TAG, LONGEST_TAG + 1):
            name = canonical(type, encode_tag(digest, length))
            if name[1:-1] not in self._by_core and name not in self._taken:
                return name
        # A collision of 130 bits of an HMAC, or a text that contains every tag of a value.
        raise OverflowError("no tag is left for this value")

    def reissue(self, placeholder: str) -> str:
        """Gives a value minted here a longer tag, because the text contains the shorter one literally."""
        entry = self._fresh.pop(placeholder)
        del self._by_core[placeholder[1:-1]]
        self.vocabulary.remove(placeholder[1:-1])
        self.forget_texts()
        del self._by_value[entry.type, entry.value, entry.raw]
        self._taken.add(placeholder)
        return self._issue(entry.type, entry.value, entry.raw, self._digests.pop(placeholder))

    def _add(self, entry: Known) -> None:
        core = entry.placeholder[1:-1]
        self._by_core[core] = entry
        self._by_value[entry.type, entry.value, entry.raw] = entry.placeholder
        self.vocabulary.add(core)
        self.forget_texts()

    def forget_texts(self) -> None:
        """Drops what is remembered of texts that were searched."""
        self._scanned.clear()
        self._closed.clear()

    def entries(self) -> tuple[Known, ...]:
        """Returns all values of the session."""
        return tuple(self._by_core.values())

    def fresh(self) -> tuple[Known, ...]:
        """Returns the values minted by this object, without those it was created with."""
        return tuple(self._fresh.values())

    def get(self, placeholder: str) -> Known | None:
        """Returns the value of a canonical placeholder, if it belongs to the session."""
        return self._by_core.get(placeholder[1:-1])

    def scan(self, text: str, *, before: str = "") -> list[Found]:
        """Finds what `find` does, and everything else in the canonical form."""
        if before:
            return scan(text, self.vocabulary, before=before)
        found = self._scanned.get(text)
        if found is None:
            found = self._scanned[text] = scan(text, self.vocabulary)
        return found

    def closed(self, text: str, hits: Sequence[Found], rules: RestoreScope) -> Mapping[int, Sequence[str]]:
        """Returns where those of `hits` begin that the URL rule withholds, each with the addresses it would go to."""
        known = self._closed.get((text, rules))
        if known is None:
            own = [hit for hit in hits if self.get(hit.placeholder)]
            known = self._closed[text, rules] = withheld(text, hits, own, rules)
        return known

    def find(self, text: str) -> list[Found]:
        """Finds this session's placeholders in a text, including lenient forms."""
        return [hit for hit in self.scan(text) if hit.placeholder[1:-1] in self._by_core]

    def any_in(self, text: str) -> bool:
        """Returns whether `find` would find any. The text is not remembered."""
        return any(hit.placeholder[1:-1] in self._by_core for hit in scan(text, self.vocabulary))

    def restore(self, text: str, *, rules: RestoreScope, key: str | None = None) -> Restored:
        """Restores this session's placeholders in a text. Does not restore placeholders inside restored values.

        A text that is a member of an object, or of a list in one, has its `key`.
        """
        opened, kept, unknown = self._judge(text, rules, key)
        if not opened:
            return Restored(text, 0, kept, unknown)
        return Restored(splice(text, ((h.start, h.end, e.value) for h, e in opened)), len(opened), kept, unknown)

    def restore_answer(self, text: str, *, rules: RestoreScope) -> Restored:
        """Restores the answer of a model. A JSON document stays a document of the same shape."""
        if not is_document(text):
            return self.restore(text, rules=rules)
        opened, kept, unknown = self._judge(text, rules)
        pieces = list(fitted(text, ((h.start, h.end, e.own or e.value) for h, e in opened)))
        return Restored(splice(text, pieces), len(pieces), kept, unknown)

    def _judge(
        self, text: str, rules: RestoreScope, key: str | None = None
    ) -> tuple[list[tuple[Found, Known]], tuple[str, ...], tuple[str, ...]]:
        """Returns what to restore, what the URL rule withholds, and what is unknown. `key` is that of a member."""
        hits = self.scan(text)
        closed = self.closed(without_blanks(text) if is_url(key, text) else text, hits, rules)
        opened: list[tuple[Found, Known]] = []
        kept, unknown = dict[str, None](), dict[str, None]()
        for hit in hits:
            entry = self.get(hit.placeholder)
            if hit.start in closed:
                kept[hit.placeholder] = None
            elif entry is not None:
                opened.append((hit, entry))
            elif self.is_unknown(hit.placeholder):
                unknown[hit.placeholder] = None
        return opened, tuple(kept), tuple(unknown)

    def is_unknown(self, placeholder: str) -> bool:
        """Returns whether to report something in the canonical form. Capitals in brackets alone are mostly words."""
        return type_of(placeholder) in self.vocabulary.types or any(map(str.isdigit, placeholder.rpartition("_")[2]))

    def restore_json(self, text: str, *, rules: RestoreScope) -> Restored:
        """Restores the strings of a JSON document, with JSON's escaping, also of documents in its strings.

        All other bytes stay. A string that consists of the placeholder of a number becomes the number again. Without
        quotes, a placeholder becomes a number or a string, if the document is valid then.
        """
        seen: list[Restored] = []
        pieces = self._json_pieces(text, rules, seen)
        bare = [(start, end, entry) for start, end, name in unquoted(text) if (entry := self.get(name)) is not None]
        if bare:
            values = ((start, end, entry.number or as_literal(entry.value)) for start, end, entry in bare)
            whole = splice(text, sorted((*pieces, *values)))
            if is_json(whole):
                return Restored(whole, *_sum([*seen, Restored("", len(bare))]))
        return Restored(splice(text, pieces), *_sum(seen))

    def _json_pieces(self, document: str, rules: RestoreScope, seen: list[Restored]) -> list[Piece]:
        pieces: list[Piece] = []
        for key, literal in keyed_literals(document):
            opened, kept, unknown = self._judge(literal.value, rules, key)
            if opened and is_document(literal.value):
                inner = self._json_pieces(literal.value, rules, seen)
                pieces += ((*literal.raw_span(start, end), escape_json(new)) for start, end, new in inner)
                continue
            seen.append(Restored("", len(opened), kept, unknown))
            for hit, entry in opened:
                if entry.number is not None and (hit.start, hit.end) == (0, len(literal.value)):
                    pieces.append((literal.start, literal.end, entry.number))
                else:
                    pieces.append((*literal.raw_span(hit.start, hit.end), entry.spelled))
        return pieces

    def restore_tree(self, value: Any, *, rules: RestoreScope) -> RestoredTree:
        """Restores every string and key in a copy of a parsed JSON value, nested to any depth.

        Keys that would become equal keep their placeholders.
        """
        seen: list[Restored] = []
        top: list[Any] = [value]
        todo: list[tuple[list[Any] | dict[str, Any], str | None]] = [(top, None)]
        while todo:
            # Is a copy already; copies replace its members.
            container, own = todo.pop()
            if isinstance(container, list):
                container[:] = [self._member(member, rules, seen, own) for member in container]
                members: Iterable[tuple[str | None, Any]] = ((own, member) for member in container)
            else:
                container.update({key: self._member(member, rules, seen, key) for key, member in container.items()})
                members = container.items()
            todo += ((member, key) for key, member in members if isinstance(member, list | dict))
        return RestoredTree(top[0], *_sum(seen))

    def _member(self, member: Any, rules: RestoreScope, seen: list[Restored], key: str | None) -> Any:
        if isinstance(member, str):
            entry = self.get(member)
            if entry is not None and entry.number is not None:
                seen.append(Restored("", 1))
                return _number(entry.number)
            if is_document(member):
                seen.append(self.restore_json(member, rules=rules))
            else:
                seen.append(self.restore(member, rules=rules, key=key))
            return seen[-1].text
        if isinstance(member, list):
            return list(member)
        if isinstance(member, dict):
            return dict(zip(self._keys(list(member), rules, seen), member.values(), strict=True))
        return member

    def _keys(self, keys: Sequence[str], rules: RestoreScope, seen: list[Restored]) -> Sequence[str]:
        restored = [self.restore(key, rules=rules) for key in keys]
        names: Sequence[str] = [each.text for each in restored]
        if len(set(names)) < len(names):
            times = Counter(names)
            names = [key if times[name] > 1 else name for key, name in zip(keys, names, strict=True)]
        if len(set(names)) < len(names):
            names = keys
        pairs = zip(restored, names, strict=True)
        seen += [each if each.text == name else self._kept(each, name) for each, name in pairs]
        return names

    def _kept(self, restored: Restored, key: str) -> Restored:
        own = tuple(dict.fromkeys(hit.placeholder for hit in self.find(key)))
        return Restored(key, 0, own, restored.unknown)


def _sum(seen: Iterable[Restored]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Merges the counts and names of several texts, without duplicate names."""
    resolved, kept, unknown = 0, dict[str, None](), dict[str, None]()
    for each in seen:
        resolved += each.resolved
        kept.update(dict.fromkeys(each.withheld))
        unknown.update(dict.fromkeys(each.unknown))
    return resolved, tuple(kept), tuple(unknown)


def _hmac(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256. `hmac.digest` would give up the interpreter lock each time, and wait for it on the event loop."""
    return hmac.new(key, data, "sha256").digest()


def _framed(part: str | None) -> bytes:
    if part is None:
        return b"\xff" * 8
    data = part.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8) + data


def _number(token: str) -> int | float:
    return int(token) if token.lstrip("-").isdecimal() else float(token)
