"""The corrections of a request, and those of stored lists, as detection asks them."""

from gateway.corrections.given import Denied, Given
from gateway.corrections.lists import AllowDigests, Corrections, OwnerLists, matcher_of


def lists(*denied: Denied, allowed: tuple[tuple[str, str], ...] = (), key: bytes = b"k" * 32) -> OwnerLists:
    digests = AllowDigests(key)
    return OwnerLists(
        digests, {digests.digest(value): frozenset(filter(None, [type])) for value, type in allowed}, denied, key
    )


def test_allowed_values_are_compared_as_policies_do() -> None:
    """Whole and exactly, in composed form."""
    own = Corrections(Given(("Zo\u00eb", "a@b.test")))
    assert own.allows("PERSON", "Zoe\u0308")
    assert own.allows("EMAIL_ADDRESS", "a@b.test")
    assert not any(own.allows("PERSON", value) for value in ("zo\u00eb", "Zo", "A@b.test", ""))
    stored = Corrections(Given(), [lists(allowed=(("Zo\u00eb", ""), ("Bonn", "LOCATION")))])
    assert stored.allows("PERSON", "Zoe\u0308")
    assert stored.allows("LOCATION", "Bonn")
    assert not stored.allows("PERSON", "Bonn")


def test_digests_of_two_owners_differ() -> None:
    assert AllowDigests(b"1" * 32).digest("Anna") != AllowDigests(b"2" * 32).digest("Anna")


def test_denied_values_are_whole_words_in_any_case() -> None:
    own = Corrections(Given((), (Denied("PROJECT", "Blue Heron"),)), [lists(Denied("PERSON", "Ute"))])
    found = own.find("BLUE\nheron, blue herons, Ute; Route")
    assert [(one.type, one.start, one.end, one.score, one.recognizer) for one in found] == [
        ("PROJECT", 0, 10, 1.0, "correction"),
        ("PERSON", 25, 28, 1.0, "correction"),
    ]
    assert own.denied_types == {"PROJECT", "PERSON"}
    assert matcher_of([]) is None
    assert matcher_of([Denied("PROJECT", "\u200b ")]) is None


def test_every_correction_changes_the_digest() -> None:
    one = Denied("A", "x")
    made = [
        Corrections(Given()),
        Corrections(Given(("x",))),
        Corrections(Given((), (one,))),
        Corrections(Given((), (Denied("B", "x"),))),
        Corrections(Given(), [lists(one)]),
        Corrections(Given(), [lists(one, key=b"o" * 32)]),
    ]
    made += [each.denials() or each for each in made]
    assert len({each.digest for each in made}) == len({id(each) for each in made})


def test_denials_allow_nothing() -> None:
    assert Corrections(Given(("Anna",)), [lists(allowed=(("Anna", ""),))]).denials() is None
    both = Corrections(Given(("Anna",), (Denied("A", "x"),)), [lists(allowed=(("Anna", ""),))])
    denials = both.denials()
    assert denials is not None
    assert denials.find("x") == both.find("x") != ()
    assert both.allows("PERSON", "Anna")
    assert not denials.allows("PERSON", "Anna")
