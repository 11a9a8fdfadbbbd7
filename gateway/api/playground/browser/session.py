"""One visitor's session in the browser: what the page shows, computed by the gateway's own modules.

The page gets texts in pieces, since Python and JavaScript count characters differently.
"""

import json
from collections.abc import Iterator, Sequence
from secrets import token_bytes
from typing import Any

from gateway.corrections.given import read_given
from gateway.corrections.lists import Corrections
from gateway.destinations.rule import RestoreScope
from gateway.detection import builtin_detector
from gateway.detection.engines import Finder
from gateway.errors import Forbidden, GatewayError, Unprocessable
from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.document import parse
from gateway.policy.files import parse_toml
from gateway.policy.inheritance import load, resolve
from gateway.policy.model import Policy
from gateway.protection.explanation import Explained, explain
from gateway.protection.protector import Protected, Protector
from gateway.surfaces.demo_text import answer
from gateway.text.fields import TextField

_VISITOR = "visitor"
"""For whom findings are remembered, so that a text is searched once to explain and to protect it."""


class Session:
    """Protects the text of the page and restores answers to it. Its keys are new in every page."""

    def __init__(
        self, policies: Sequence[dict[str, Any]], finder: Finder | None = None, names: Finder | None = None
    ) -> None:
        finder = finder or builtin_detector()
        self._policies: dict[str, Policy] = {policy.id: policy for policy in map(load, policies)}
        self._by_patterns = Protector(finder, hash_key=token_bytes(32))
        self._with_names = Protector(names or finder, hash_key=token_bytes(32))
        self._key = token_bytes(32)
        self._placeholders = Placeholders(self._key)
        self._rules = RestoreScope("source")
        self._sources: dict[str, int] = {}

    def policies(self) -> list[dict[str, Any]]:
        """Returns what the page offers."""
        return [*map(_shown, self._policies.values())]

    def load(self, toml: str) -> dict[str, Any]:
        """Adds a policy of the visitor's, or replaces it, and returns it as `policies` does. Raises GatewayError."""
        document = parse(parse_toml(toml.encode(), "policy"))
        known = self._policies.get(document.id)
        if known is not None and known.builtin:
            raise Unprocessable("Policy refused: id: a built-in policy has it; choose another.", param="id")
        parent = self._policies.get(document.extends or "")
        if document.extends and (parent is None or parent is known):
            raise Unprocessable("Policy refused: extends: this page has no such policy.", param="extends")
        policy = self._policies[document.id] = resolve(document, version=1, builtin=False, parent=parent)
        return _shown(policy)

    def protect(
        self, text: str, policy: str, mode: str, allow: list[str], deny: list[dict[str, str]], names: bool = True
    ) -> Any:
        """Returns the text as the provider receives it, why, and an answer that a good model might give.

        With `names`, the session's model looks for names, too.
        """
        protector = self._with_names if names else self._by_patterns
        rules, privacy = self._policies[policy], PrivacyMode(mode)
        given = read_given(allow or None, deny or None)
        corrections = Corrections(given) if given else None
        explained = explain(protector, text, rules, privacy, remember_for=_VISITOR, corrections=corrections)
        self._placeholders = Placeholders(self._key)
        holder = {"text": text}
        field = TextField(holder, "text", text)
        findings = [self._finding(number, one, text) for number, one in enumerate(explained.findings)]
        said = {"findings": findings, "source": [*_pieces(text, explained.findings)], "policy": rules.id, "mode": mode}
        try:
            done = protector.protect(
                [[field]], rules, privacy, self._placeholders, remember_for=_VISITOR, corrections=corrections
            )
        except Forbidden as refusal:
            self._sources = {}
            return {**said, "blocked": refusal.message, "protected": [], "answer": ""}
        self._rules = RestoreScope(rules.restore.urls, done.urls)
        numbers = {(one.start, one.end): number for number, one in enumerate(explained.findings) if one.kept is None}
        protected = [*_protected(holder["text"], done, numbers)]
        self._sources = {
            each.placeholder: numbers.get((each.start, each.end), -1)
            for each in reversed(done.transformations)
            if each.placeholder
        }
        return {**said, "blocked": None, "protected": protected, "answer": answer(holder["text"])}

    def restore(self, text: str) -> dict[str, Any]:
        """Returns what the client gets back for an answer, in pieces, and which placeholders stayed closed."""
        restored = self._placeholders.restore_answer(text, rules=self._rules)
        hits = self._placeholders.scan(text)
        closed = self._placeholders.closed(text, hits, self._rules)
        pieces, read = [], 0
        for hit in hits:
            entry = self._placeholders.get(hit.placeholder)
            if entry is None and not self._placeholders.is_unknown(hit.placeholder):
                continue
            kind = "unknown" if entry is None else "closed" if hit.start in closed else "restored"
            shown = text[hit.start : hit.end] if entry is None or kind == "closed" else entry.value
            pieces += [_piece(text[read : hit.start]), _piece(shown, self._sources.get(hit.placeholder, -1), kind)]
            read = hit.end
        pieces.append(_piece(text[read:]))
        if "".join(each["text"] for each in pieces) != restored.text:
            # A JSON document: what is restored is escaped to fit.
            pieces = [_piece(restored.text)]
        return {
            "pieces": pieces,
            "resolved": restored.resolved,
            "withheld": restored.withheld,
            "unknown": restored.unknown,
        }

    def _finding(self, number: int, one: Explained, text: str) -> dict[str, Any]:
        known = self._with_names.types.get(one.type)
        return {
            "number": number,
            "type": one.type,
            "group": known.group if known else "custom",
            "about": known.description if known else "",
            "value": text[one.start : one.end],
            "action": one.action.value,
            "why": one.reason.sentence,
            "kept": one.kept,
            "recognizer": one.recognizer,
            "score": round(one.score, 2),
            "settings": one.settings,
            "span": [one.start, one.end],
        }


def call(session: Session, method: str, arguments: str) -> str:
    """Calls a method with arguments in JSON. Returns its result, or the message of a GatewayError, in JSON."""
    try:
        result = getattr(session, method)(*json.loads(arguments))
    except GatewayError as error:
        return json.dumps({"error": error.message})
    return json.dumps({"result": result})


def _shown(policy: Policy) -> dict[str, Any]:
    return {"id": policy.id, "title": policy.title, "description": policy.description, "version": policy.version}


def _piece(text: str, finding: int = -1, kind: str = "") -> dict[str, Any]:
    return {"text": text, "finding": finding, "kind": kind}


def _pieces(text: str, findings: Sequence[Explained]) -> Iterator[dict[str, Any]]:
    """Yields the text with its findings. One that overlaps the one before is left out."""
    at = 0
    for number, one in enumerate(findings):
        if one.start >= at:
            yield _piece(text[at : one.start])
            yield _piece(text[one.start : one.end], number, "kept" if one.kept else "hidden")
            at = one.end
    yield _piece(text[at:])


def _protected(text: str, done: Protected, numbers: dict[tuple[int, int], int]) -> Iterator[dict[str, Any]]:
    at = 0
    for one in sorted(done.transformations, key=lambda each: each.protected_start):
        yield _piece(text[at : one.protected_start])
        number = numbers.get((one.start, one.end), -1)
        yield _piece(
            text[one.protected_start : one.protected_end], number, "placeholder" if one.placeholder else "hidden"
        )
        at = one.protected_end
    yield _piece(text[at:])
