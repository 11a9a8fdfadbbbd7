"""The text that a stream holds back, and how long. test_echo and test_url_policy compare the result with whole text."""

import pytest

from gateway.placeholders import Placeholders, RestoreScope, StreamRestorer, urls_with_placeholders
from tests.tables import table

from .conftest import KEY, Session

CASES = table(__file__)

SOURCE = RestoreScope("source")


def feed(session: Session, *pieces: str, rules: RestoreScope = SOURCE) -> list[str]:
    stream = StreamRestorer(session.placeholders, rules)
    return [*(stream.feed(session.protected(piece)) for piece in pieces), stream.finish()]


@pytest.mark.parametrize("piece", CASES["plain_text_is_given_at_once"])
def test_plain_text_is_given_at_once(session: Session, piece: str) -> None:
    assert "".join(feed(session, piece)) == piece
    held = feed(session, piece)[1]
    assert held.strip() == ""


@pytest.mark.parametrize("cut", range(1, 21))
def test_a_placeholder_cut_anywhere(session: Session, cut: int) -> None:
    placeholder = session.names["email"]
    before, opened, rest = feed(session, "to " + placeholder[:cut], placeholder[cut:] + " ok")
    assert (before, opened, rest) == ("to ", "anna@acme.test ok", "")


def test_only_what_could_be_one_is_held(session: Session) -> None:
    assert feed(session, "my EMAIL", " ADDRESS", " is secret") == ["my ", "", "EMAIL ADDRESS is secret", ""]
    assert feed(session, "x [", "1]") == ["x ", "[1]", ""]
    assert feed(session, "x \\", "n &", "amp; %", "5 ") == ["x ", "\\n ", "&amp; ", "%5 ", ""]


def test_a_bare_placeholder_waits_for_its_end(session: Session) -> None:
    assert feed(session, "{{person:core}}", " said") == ["", "Anna Example said", ""]
    assert feed(session, "{{person:core}}", "X said")[1].endswith("X said")
    assert feed(session, "{{person:core}}") == ["", "Anna Example"]


def test_a_placeholder_in_prose_does_not_wait_for_more_than_a_character(session: Session) -> None:
    assert feed(session, "{{person}}", " ", "said") == ["", "Anna Example ", "said", ""]
    assert feed(session, "{{person}}", ",") == ["", "Anna Example,", ""]


def test_an_unknown_url_is_given_at_once_and_stays_protected(session: Session) -> None:
    first, second, _ = feed(session, "see https://evil.example/?q={{email}}", "&x=1 ok")
    assert first == session.protected("see https://evil.example/?q={{email}}")
    assert second == "&x=1 ok"


def test_a_url_that_could_be_of_the_source_is_held_from_its_placeholder_on(session: Session) -> None:
    rules = RestoreScope("source", urls_with_placeholders(session.protected("https://crm.example/{{person}}/card")))
    pieces = ("see https://crm.example/{{person}}", "/ca", "rd now")
    assert feed(session, *pieces, rules=rules) == ["see https://crm.example/", "", "Anna Example/card now", ""]
    done = feed(session, "see https://crm.example/{{person}}", "/card/and/very/much/more/than", "/that", rules=rules)
    assert done[:2] == ["see https://crm.example/", session.protected("{{person}}/card/and/very/much/more/than")]


def test_the_end_decides_about_what_was_held(session: Session) -> None:
    rules = RestoreScope("source", urls_with_placeholders(session.protected("https://crm.example/{{person}}")))
    assert feed(session, "https://crm.example/{{person}}", rules=rules)[1] == "Anna Example"
    assert feed(session, "https://crm.example/{{person}}", rules=RestoreScope("never"))[0].endswith("]")


@pytest.mark.slow
def test_hostile_openings_are_not_hoarded(session: Session) -> None:
    """However long a text that keeps beginning placeholders or hosts, little is held back."""
    for unit in ("[", "EMAIL_ADDRESS_", "email address ", "&lt;", "`", "{{person}}.", "[x](", "\\"):
        stream = StreamRestorer(session.placeholders, SOURCE)
        text = session.protected(unit) * 3000
        given = sum(len(stream.feed(text[at : at + 100])) for at in range(0, len(text), 100))
        held = len(stream.finish())
        assert held < 6000, unit
        assert given > 0, unit


def test_a_session_without_values_changes_and_holds_nothing() -> None:
    stream = StreamRestorer(Placeholders(KEY), SOURCE)
    assert [stream.feed("a [PER"), stream.feed("SON_7KQ2M] b"), stream.finish()] == ["a [PER", "SON_7KQ2M] b", ""]


def test_counts_and_names(session: Session) -> None:
    stream = StreamRestorer(session.placeholders, SOURCE)
    stream.feed(session.protected("{{person}} {{email}} [PERSON_00000] https://evil.example/{{email}} "))
    stream.finish()
    assert stream.resolved == 2
    assert stream.withheld == (session.names["email"],)
    assert stream.unknown == ("[PERSON_00000]",)
