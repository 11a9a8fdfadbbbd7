"""Texts with placeholders in all kinds of markup, and policies."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.config.locations import BUILTIN_POLICIES
from gateway.errors import GatewayError
from gateway.http.strict_json import is_json
from gateway.placeholders import Placeholders, RestoreScope, StreamRestorer, urls_with_placeholders
from gateway.policy.files import read_policy_file
from gateway.policy.inheritance import load
from gateway.policy.registry import PolicyRegistry
from tests.fuzz.bodies import Check
from tests.fuzz.mutation import PRIVATE, mutated_bytes, mutated_json, mutated_text, quiet
from tests.gateway.wires.replays import chunks

_VALUES = {"EMAIL_ADDRESS": "anna@acme.test", "PERSON": 'Anna "Annie" \\ Keller', "URL": "https://acme.test/a?b=c"}


_OWN = {
    "id": "own",
    "title": "Own",
    "rules": {"PERSON": {"action": "mask", "keep_last": 2}},
    "deny": [{"type": "CODE_NAME", "terms": [PRIVATE]}],
    "allow": [{"values": [PRIVATE]}],
    "patterns": [{"name": "ticket", "type": "TICKET", "regex": r"T-\d{4}", "context": ["ticket"]}],
}


@contextmanager
def placeholders(_: Path) -> Iterator[Check]:
    """A text is restored alike as a whole and in pieces, JSON stays JSON, and what holds no placeholder stays."""
    session = Placeholders(b"k" * 32)
    marks = [session.mint(kind, value) for kind, value in _VALUES.items()]
    cores = [mark[1:-1] for mark in marks]
    around = (
        "[a]({})",
        "`{}`",
        "<a href='{}'>",
        "https://a.example/{}",
        "&lt;{}&gt;",
        '{{"a": "{}"}}',
        "{} ",
        "\\{}",
        "{}",
    )
    tags = [core.rpartition("_")[2] for core in cores]

    def check(rng: random.Random, longest: int) -> int:
        text = " ".join(rng.choice(around).format(rng.choice(marks)) for _ in range(rng.randint(1, 6)))
        text = mutated_text(rng, text, longest=longest)
        scope = RestoreScope(rng.choice(("source", "never", "always")), urls_with_placeholders(text))
        restored = session.restore_answer(text, rules=scope)
        if not restored.resolved:
            assert restored.text == text, "a text without placeholders is changed"
        if not any(tag.casefold() in text.casefold() for tag in tags):
            assert not restored.resolved, "a placeholder is opened that is not there"
        stream = StreamRestorer(session, rules=scope)
        pieces = [*map(stream.feed, chunks(text, rng)), stream.finish()]
        assert "".join(pieces) == session.restore(text, rules=scope).text, "it depends on the pieces"
        document = json.dumps({"text": text, text[:9]: [text]}, ensure_ascii=rng.random() < 0.5)
        assert is_json(session.restore_json(document, rules=scope).text), "JSON is broken"
        session.restore_json(text, rules=scope)
        return len(text)

    yield check


@contextmanager
def policies(folder: Path) -> Iterator[Check]:
    """A document becomes a policy, which its stored form gives again, or is refused."""
    registry = PolicyRegistry(BUILTIN_POLICIES)
    files = sorted(Path(BUILTIN_POLICIES).glob("*.toml"))
    built_in = [read_policy_file(file) for file in files]
    documents = [{**document, "id": "own", "version": None} for document in built_in] + [_OWN]
    target = folder / "policy.toml"

    def check(rng: random.Random, longest: int) -> int:
        if rng.random() < 0.3:
            content = mutated_bytes(rng, rng.choice(files).read_bytes(), longest=longest)
            target.write_bytes(content)
        else:
            content, changed = b"", mutated_json(rng, rng.choice(documents))
            document = changed if isinstance(changed, dict) else {"id": changed}
        try:
            policy = registry.preview(read_policy_file(target) if content else document)
        except GatewayError as error:
            quiet(error)
        else:
            assert load(policy.document).hash == policy.hash, "the stored form is of another policy"
        return len(content)

    yield check
