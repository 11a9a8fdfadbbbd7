"""The placeholders of one session: minting, finding, restoring.

A placeholder is `[TYPE_TAG]` with the tag taken from HMAC-SHA256(session key, type, value, spelling). It needs no
counter and no stored state, so the same conversation gives the same bytes on every worker and at every turn.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.placeholders import grammar
from gateway.placeholders.grammar import Found, canonical, encode_tag, looks_like_placeholder
from gateway.placeholders.json_text import NUMBER, escape_json, string_literals
from gateway.placeholders.urls import RestoreScope, withheld


@dataclass(frozen=True, slots=True, repr=False)
class Known:
    """A value of a session. `raw` is its spelling inside a JSON document where that is not the canonical one:
    escapes of its own, or, after `NUMBER`, the token of a JSON number."""

    placeholder: str
    type: str
    value: str
    raw: str | None = None

    def __repr__(self) -> str:
        return f"Known({self.placeholder})"


@dataclass(frozen=True, slots=True, repr=False)
class Restored:
    """A restored text. `withheld` stayed closed by the URL rule; `unknown` look like placeholders and are nobody's."""

    text: str
    resolved: int
    withheld: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RestoredTree:
    """The same for any JSON value."""

    value: Any
    resolved: int
    withheld: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def conversation_key(installation_key: bytes, caller: str, first_user_text: str) -> bytes:
    """The 32-byte session key of a chat (HKDF-SHA256, RFC 5869): the same conversation, the same key."""
    context = b"\x00".join(
        (
            b"privacy-gateway conversation v1",
            caller.encode(),
            first_user_text.encode("utf-8", "surrogatepass"),
        )
    )
    return HKDF(SHA256(), 32, salt=None, info=context).derive(installation_key)


class Placeholders:
    """One session's values. Not shared between threads."""

    def __init__(self, key: bytes, known: Iterable[Known] = ()) -> None:
        self._key = key
        self._by_name: dict[str, Known] = {}
        self._by_value: dict[tuple[str, str, str | None], str] = {}
        self._kinds: frozenset[str] = frozenset()
        self._fresh: list[Known] = []
        self._taken: set[str] = set()
        for entry in known:
            self._add(entry)

    def __repr__(self) -> str:
        return f"Placeholders({len(self._by_name)} values)"

    def __len__(self) -> int:
        return len(self._by_name)

    def mint(self, kind: str, value: str, *, raw: str | None = None) -> str:
        """The placeholder of a value; the same for the same value, whenever it is asked for.

        Where two values would share a tag, the later gets a longer one.
        """
        if (minted := self._by_value.get((kind, value, raw))) is not None:
            return minted
        message = b"".join(_framed(part) for part in (kind, value, raw))
        digest = hmac.digest(self._key, message, "sha256")
        length = grammar.SHORTEST_TAG
        while (name := canonical(kind, encode_tag(digest, length))) in self._by_name or name in self._taken:
            length += 1
        entry = Known(name, kind, value, raw)
        self._add(entry)
        self._fresh.append(entry)
        return name

    def reissue(self, placeholder: str) -> str:
        """Gives a value minted here a longer tag, because the text holds the shorter one literally."""
        entry = self._by_name.pop(placeholder)
        del self._by_value[entry.type, entry.value, entry.raw]
        self._fresh.remove(entry)
        self._taken.add(placeholder)
        return self.mint(entry.type, entry.value, raw=entry.raw)

    def _add(self, entry: Known) -> None:
        self._by_name[entry.placeholder] = entry
        self._by_value[entry.type, entry.value, entry.raw] = entry.placeholder
        if entry.type not in self._kinds:
            self._kinds |= {entry.type}

    def entries(self) -> tuple[Known, ...]:
        """Every value of the session."""
        return tuple(self._by_name.values())

    def fresh(self) -> tuple[Known, ...]:
        """The values minted here, without those known from before."""
        return tuple(self._fresh)

    def find(self, text: str) -> list[Found]:
        """Where this session's placeholders stand in a text, lenient forms included."""
        return grammar.find(text, self._kinds, self._by_name.__contains__)

    def restore(self, text: str, *, rules: RestoreScope) -> Restored:
        """Opens this session's placeholders in a text. What a value itself holds is never looked at again."""
        hits = self.find(text)
        closed = withheld(text, hits, rules)
        parts: list[str] = []
        position = 0
        for index, hit in enumerate(hits):
            if index not in closed:
                parts += [text[position : hit.start], self._by_name[hit.placeholder].value]
                position = hit.end
        parts.append(text[position:])
        kept = tuple(hits[index].placeholder for index in sorted(closed))
        return Restored("".join(parts), len(hits) - len(closed), kept, self._unknown(text))

    def restore_json(self, text: str, *, rules: RestoreScope) -> Restored:
        """The same inside the strings of a JSON document, with JSON's escaping; everything else stays to the byte."""
        if not self._by_name:
            return Restored(text, 0, (), self._unknown(text))
        pieces: list[tuple[int, int, str]] = []
        kept: list[str] = []
        for literal in string_literals(text):
            hits = self.find(literal.value)
            closed = withheld(literal.value, hits, rules)
            kept += [hits[index].placeholder for index in sorted(closed)]
            for index, hit in enumerate(hits):
                if index in closed:
                    continue
                entry = self._by_name[hit.placeholder]
                if entry.raw and entry.raw.startswith(NUMBER) and (hit.start, hit.end) == (0, len(literal.value)):
                    pieces.append((literal.start, literal.end, entry.raw.removeprefix(NUMBER)))
                    continue
                spelled = entry.raw if entry.raw and not entry.raw.startswith(NUMBER) else escape_json(entry.value)
                pieces.append((*literal.raw_span(hit.start, hit.end), spelled))
        parts: list[str] = []
        position = 0
        for start, end, piece in pieces:
            parts += [text[position:start], piece]
            position = end
        parts.append(text[position:])
        return Restored("".join(parts), len(pieces), tuple(kept), self._unknown(text))

    def restore_tree(self, value: Any, *, rules: RestoreScope) -> RestoredTree:
        """The same in every string and key of a parsed JSON value, which is left as it was; the result is a copy.

        Keys that would become one keep their placeholders.
        """
        seen: list[Restored] = []
        copy = self._tree(value, rules, seen)
        kept = tuple(name for each in seen for name in each.withheld)
        unknown = tuple(dict.fromkeys(name for each in seen for name in each.unknown))
        return RestoredTree(copy, sum(each.resolved for each in seen), kept, unknown)

    def _tree(self, value: Any, rules: RestoreScope, seen: list[Restored]) -> Any:
        if isinstance(value, str):
            entry = self._by_name.get(value)
            if entry is not None and entry.raw and entry.raw.startswith(NUMBER):
                seen.append(Restored("", 1))
                return _number(entry.raw.removeprefix(NUMBER))
            seen.append(self.restore(value, rules=rules))
            return seen[-1].text
        if isinstance(value, list):
            return [self._tree(inner, rules, seen) for inner in value]
        if isinstance(value, dict):
            keys = [self.restore(key, rules=rules) for key in value]
            names = [key.text for key in keys]
            if len(set(names)) < len(names):
                names = list(value)
            else:
                seen += keys
            return {name: self._tree(inner, rules, seen) for name, inner in zip(names, value.values(), strict=True)}
        return value

    def _unknown(self, text: str) -> tuple[str, ...]:
        """Placeholder-shaped words of nobody; a word of capitals in brackets is one only with a digit in its tag."""
        found = looks_like_placeholder(text)
        return tuple(
            dict.fromkeys(
                hit.placeholder
                for hit in found
                if hit.placeholder not in self._by_name
                and any(char.isdigit() for char in hit.placeholder.rsplit("_", 1)[1])
            )
        )


def _framed(part: str | None) -> bytes:
    if part is None:
        return b"\xff" * 8
    data = part.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8) + data


def _number(token: str) -> int | float:
    return int(token) if token.lstrip("-").isdecimal() else float(token)
