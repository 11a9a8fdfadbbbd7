"""The URL rule: every attack and every harmless text, on every path that a text can take."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.placeholders import Restored, RestoreScope, StreamRestorer, urls_with_placeholders

from .conftest import VALUES, Session

VECTORS = Path(__file__).parents[2] / "vectors" / "placeholders"


def vectors(folder: str) -> list[Any]:
    files = sorted((VECTORS / folder).glob("*.json"))
    return [pytest.param(json.loads(file.read_text(encoding="utf-8")), id=file.stem) for file in files]


def scope(session: Session, vector: dict[str, str]) -> RestoreScope:
    source = urls_with_placeholders(session.protected(vector.get("source", "")))
    return RestoreScope(vector.get("urls", "source"), source)  # type: ignore[arg-type]


def streamed(session: Session, pieces: Iterator[str], rules: RestoreScope) -> Restored:
    stream = StreamRestorer(session.placeholders, rules)
    text = "".join([*map(stream.feed, pieces), stream.finish()])
    return Restored(text, stream.resolved, stream.withheld, stream.unknown)


def random_pieces(text: str, seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    at = 0
    while at < len(text):
        size = chance.randint(1, 30)
        yield text[at : at + size]
        at += size


def every_path(session: Session, text: str, rules: RestoreScope) -> Iterator[tuple[str, Restored]]:
    placeholders = session.placeholders
    yield "whole", placeholders.restore(text, rules=rules)
    yield "stream, character by character", streamed(session, iter(text), rules)
    for seed in range(5):
        yield f"stream, random pieces {seed}", streamed(session, random_pieces(text, seed), rules)
    for ascii_only in (True, False):
        done = placeholders.restore_json(json.dumps({"k": [text]}, ensure_ascii=ascii_only), rules=rules)
        yield "json", Restored(json.loads(done.text)["k"][0], done.resolved, done.withheld, done.unknown)
    tree = placeholders.restore_tree({"k": [text]}, rules=rules)
    yield "tree", Restored(tree.value["k"][0], tree.resolved, tree.withheld, tree.unknown)


@pytest.mark.parametrize("vector", vectors("attacks"))
def test_an_attack_gets_no_value(session: Session, vector: dict[str, str]) -> None:
    answer = vector["answer"]
    for path, done in every_path(session, session.protected(answer), scope(session, vector)):
        assert done.text == session.expected(answer), path
        assert set(done.withheld) == session.closed(answer), path
        assert done.resolved == session.opened(answer), path


@pytest.mark.parametrize("vector", vectors("attacks"))
def test_an_attack_is_one_only_by_the_rule(session: Session, vector: dict[str, str]) -> None:
    """Without the rule the value would have crossed: the vector is no vacuous one."""
    done = session.placeholders.restore(session.protected(vector["answer"]), rules=RestoreScope("always"))
    assert any(value in done.text for _, value in VALUES.values())
    assert done.withheld == ()


@pytest.mark.parametrize("vector", vectors("allowed"))
def test_harmless_texts_are_restored(session: Session, vector: dict[str, str]) -> None:
    answer = vector["answer"]
    for path, done in every_path(session, session.protected(answer), scope(session, vector)):
        assert done.text == session.expected(answer), path
        assert done.withheld == (), path
        assert done.resolved == session.opened(answer), path


@pytest.mark.parametrize("vector", vectors("attacks") + vectors("allowed"))
def test_the_echo_of_a_source_is_exact_even_where_it_looks_like_an_attack(
    session: Session, vector: dict[str, str]
) -> None:
    """Every destination in the source counts as the source's own."""
    text = session.protected(vector["answer"].replace("{{+", "{{"))
    rules = RestoreScope("source", urls_with_placeholders(text))
    everything = session.placeholders.restore(text, rules=RestoreScope("always"))
    if all(hit.exact for hit in session.placeholders.find(text)):
        assert session.placeholders.restore(text, rules=rules).text == everything.text
        assert streamed(session, iter(text), rules).text == everything.text


@pytest.mark.parametrize(
    "form", ["{{person:lower}}", "%5B{{person:core}}%5D", "&lt;{{person:core}}&gt;", "[{{person:spaces}}]"]
)
def test_a_source_url_is_recognised_in_every_spelling_of_its_placeholder(session: Session, form: str) -> None:
    rules = RestoreScope("source", urls_with_placeholders(session.protected("https://crm.example/{{person}}/x")))
    for path, done in every_path(session, session.protected(f"go to https://crm.example/{form}/x, please"), rules):
        assert done.text == "go to https://crm.example/Anna Example/x, please", path
        assert done.withheld == (), path


def test_only_destinations_with_placeholders_are_of_the_source(session: Session) -> None:
    text = session.protected("https://a.example/x {{person}} https://b.example/{{person}} [x](c/{{email}} 'y')")
    addresses = {address.rstrip("]") for address in urls_with_placeholders(text)}
    names = {name: placeholder.rstrip("]") for name, placeholder in session.names.items()}
    assert f"https://b.example/{names['person']}" in addresses
    assert f"c/{names['email']}" in addresses
    assert all("a.example" not in address for address in addresses)
    assert urls_with_placeholders("https://a.example/x and nothing else") == frozenset()


def test_the_scope_does_not_show_what_the_source_held() -> None:
    assert "crm" not in repr(RestoreScope("source", frozenset({"https://crm.example/[PERSON_7KQ2M]"})))
