"""Every document of every kind is converted completely, in order, with its table."""

import pytest

from gateway.attachments.base import File, Reason, Refused
from gateway.attachments.markdown import table
from gateway.attachments.registry import convert, installed, kind_of, kinds
from tests.gateway.attachments.documents import LANGUAGES, MAKERS, TABLES

ALL = [(language, ending) for language in LANGUAGES for ending in MAKERS]


@pytest.mark.parametrize(("language", "ending"), ALL)
def test_all_text_is_converted_in_order(language: str, ending: str) -> None:
    said = LANGUAGES[language]
    text = convert(File(MAKERS[ending](said), name=f"a.{ending}")).text
    places = [text.find(each) for each in (said.title, said.first, said.second, *said.private[2:])]
    assert -1 not in places
    assert places == sorted(places)
    if ending in TABLES:
        assert table(said.rows) in text
    assert all(text.count(value) == 1 for value in (said.first, said.second, *said.private[2:]))


def test_there_are_at_least_sixty_documents() -> None:
    assert len(ALL) >= 60


def test_each_kind_has_names_of_its_own() -> None:
    for names in ([kind.media_types for kind in kinds()], [kind.endings for kind in kinds()]):
        assert sum(map(len, names)) == len(frozenset().union(*names))
    assert installed()


@pytest.mark.parametrize(
    ("media_type", "name", "kind"),
    [
        ("application/pdf", "", "pdf"),
        ("application/pdf; a=b", "a.txt", "pdf"),
        ("text/plain", "a.csv", "csv"),
        ("text/plain", "a", "text"),
        ("", "A.DOCX", "docx"),
        ("application/octet-stream", "a.eml", "eml"),
    ],
)
def test_a_kind_is_declared_by_type_or_name(media_type: str, name: str, kind: str) -> None:
    assert kind_of(File(b"", media_type, name)).id == kind


@pytest.mark.parametrize(
    ("media_type", "name"), [("", ""), ("application/zip", "a.pdf"), ("image/png", ""), ("", "a.exe")]
)
def test_an_undeclared_kind_is_refused(media_type: str, name: str) -> None:
    with pytest.raises(Refused) as refused:
        kind_of(File(b"%PDF-1.7", media_type, name))
    assert refused.value.reason is Reason.UNKNOWN_KIND
