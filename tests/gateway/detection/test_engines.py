"""Several engines asked together: what the others find of a placeholder is nothing, the rest of a finding stays; a
number beside a name is a telephone number.
"""

from collections.abc import Mapping

import pytest

from gateway.detection import builtin_detector
from gateway.detection.engines import Engines, Finder
from gateway.detection.normalized_text import cover
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.placeholders import looks_like_placeholder
from tests.tables import table

CASES = table(__file__)


class Marking(Finder):
    """Takes the text between the first and the last exclamation mark for a person."""

    version = "marking"
    types: Mapping[str, EntityType] = {}

    def detect(self, text: str) -> tuple[Entity, ...]:
        return (Entity("PERSON", text.index("!") + 1, text.rindex("!"), 0.9, "marking"),)

    def close(self) -> None: ...


@pytest.mark.parametrize(("text", "found"), CASES["a_placeholder_is_nobodys_name"])
def test_a_placeholder_is_nobodys_name(text: str, found: list[str]) -> None:
    engines = Engines(builtin_detector(), [Marking()])
    own = cover(text, [(hit.start, hit.end) for hit in looks_like_placeholder(text)])
    assert [text[one.start : one.end] for one in engines.detect(own) if one.recognizer == "marking"] == found


class Spanning(Marking):
    """Takes the text between two offsets for a person."""

    def __init__(self, start: int, end: int) -> None:
        self.span = start, end

    def detect(self, text: str) -> tuple[Entity, ...]:
        return (Entity("PERSON", *self.span, 0.9, "marking"),)


@pytest.mark.parametrize(("text", "found"), CASES["a_secret_is_no_part_of_a_name"])
def test_a_secret_is_no_part_of_a_name(text: str, found: list[str]) -> None:
    """The marks stay out of the text, since they would part the secret."""
    marks = text.index("!"), text.rindex("!") - 1
    plain = text.replace("!", "")
    engines = Engines(builtin_detector(), [Spanning(*marks)])
    assert [plain[one.start : one.end] for one in engines.detect(plain) if one.recognizer == "marking"] == found


def test_the_end_of_a_password_and_a_host_are_no_address() -> None:
    found = Engines(builtin_detector()).detect("DB=postgres://app:" + "Wat3rfall@db.acme.org:5432/crm")
    assert "EMAIL_ADDRESS" not in {one.type for one in found}


@pytest.mark.parametrize(("text", "found"), CASES["a_name_ends_where_an_address_begins"])
def test_a_name_ends_where_an_address_begins(text: str, found: list[str]) -> None:
    """The marks stay out of the text, since they would part the address."""
    marks = text.index("!"), text.rindex("!") - 1
    plain = text.replace("!", "")

    class Model(Marking):
        def detect(self, text: str) -> tuple[Entity, ...]:
            return (Entity("PERSON", *marks, 0.9, "marking"),)

    engines = Engines(builtin_detector(), [Model()])
    assert [plain[one.start : one.end] for one in engines.detect(plain) if one.recognizer == "marking"] == found


@pytest.mark.parametrize(("text", "number"), CASES["a_number_beside_a_name_is_a_telephone_number"])
def test_a_number_beside_a_name_is_a_telephone_number(text: str, number: str) -> None:
    plain = text.replace("!", "")
    assert not [one for one in builtin_detector().detect(plain) if one.type == "PHONE_NUMBER" and one.score >= 0.5]

    class Naming(Marking):
        def detect(self, text: str) -> tuple[Entity, ...]:
            start = plain.index(name)
            return (Entity("PERSON", start, start + len(name), 0.9, "naming"),)

    name = text.split("!")[1]
    found = [one for one in Engines(builtin_detector(), [Naming()]).detect(plain) if one.type == "PHONE_NUMBER"]
    assert [plain[one.start : one.end] for one in found if one.score >= 0.5] == [number] * bool(number)


class _Failing(Marking):
    def detect(self, text: str) -> tuple[Entity, ...]:
        raise Unavailable("Not now.", code="detection_failed")


@pytest.mark.parametrize("length", [10, 20_000])
@pytest.mark.parametrize(("patterns", "other"), [(_Failing(), Marking()), (Marking(), _Failing())])
def test_if_one_engine_fails_detection_fails(patterns: Marking, other: Marking, length: int) -> None:
    engines = Engines(patterns, [other])
    with pytest.raises(Unavailable):
        engines.detect_all(["!Anna!" + " " * length])
    engines.close()


def test_a_long_text_has_the_same_findings() -> None:
    engines = Engines(builtin_detector(), [Marking()])
    texts = ["mail !anna@acme.test! now", "nobody !", "mail !bert@acme.test! now"]
    short = engines.detect_all(texts)
    assert engines.detect_all([*texts, "!" * 20_000])[:3] == short
    engines.close()


@pytest.mark.parametrize(("text", "found"), CASES["a_name_in_code_is_nobodys"])
def test_a_name_in_code_is_nobodys(text: str, found: list[str]) -> None:
    marks = text.index("!"), text.rindex("!") - 1

    class Between(Marking):
        def detect(self, text: str) -> tuple[Entity, ...]:
            return (Entity("PERSON", *marks, 0.9, "marking"),)

    plain = text.replace("!", "")
    engines = Engines(builtin_detector(), [Between()])
    assert [plain[one.start : one.end] for one in engines.detect(plain) if one.recognizer == "marking"] == found


def test_other_types_are_found_in_code() -> None:
    (found,) = Engines(builtin_detector()).detect("return send(wilhelmina@acme.test, a.b)\n")
    assert found.type == "EMAIL_ADDRESS"
