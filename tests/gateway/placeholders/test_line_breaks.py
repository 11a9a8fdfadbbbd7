"""A placeholder that a model breaks over two lines opens, wherever it is broken, whole and streamed."""

import random

import pytest

from gateway.placeholders import RestoreScope, StreamRestorer
from gateway.placeholders.line_breaks import broken_end

from .conftest import Session

RULES = RestoreScope("source")
BREAKS = ("\n", "\r\n", " \n    ", "\n> > ", "\n+# ", "\n // ", "\n * ", "\n--  ")


@pytest.mark.parametrize("line_end", BREAKS)
def test_it_opens_wherever_it_is_broken(session: Session, line_end: str) -> None:
    core, chance = session.names["email"][1:-1], random.Random(1)
    for cut in range(1, len(core) + 1):
        text = session.protected(f"To [{core[:cut]}{line_end}{core[cut:]}], {{{{person}}}} [TODO\n- [x\n")
        want = session.expected("To {{+email}}, {{+person}} [TODO\n- [x\n")
        assert session.placeholders.restore(text, rules=RULES).text == want
        stream, cuts = StreamRestorer(session.placeholders, RULES), sorted(chance.sample(range(len(text)), 9))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert "".join([*map(stream.feed, pieces), stream.finish()]) == want


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("to [EMAIL_\n> ", 3),
        ("to [EMAIL_ADD\n", 3),
        ("to [EMAIL \r", 3),
        ("to [EMAIL_\n> x", None),
        ("to [TODO\n", None),
        ("to [\n    ", None),
        ("[EMAIL_\n", 0),
        ("[EMAIL_\n\n", None),
        ("[EMAIL_" + "\n" + " " * 65, None),
    ],
)
def test_only_what_may_still_be_one_is_held(session: Session, text: str, held: int | None) -> None:
    cores = session.placeholders.vocabulary.cores
    assert broken_end(text, cores, len(text)) == (len(text) if held is None else held)
