"""OpenDocument files: paragraphs, notes, repeated cells, and what is beside the text."""

import pytest

from gateway.attachments.base import Refused
from tests.gateway.attachments.documents import NAMESPACES, odf
from tests.gateway.attachments.kinds.readings import read


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<text:p>a<text:span>b</text:span><text:s text:c='2'/>d<text:tab/>e<text:line-break/></text:p>", "ab  d\te"),
        ("<text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>", "- a"),
        ("<text:section><text:p>a</text:p></text:section>", "a"),
        ("<text:p>a<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>b</text:p></text:note-body>"
         "</text:note></text:p>", "a [1 b]"),
        ("<text:p>a<office:annotation><text:p>b</text:p></office:annotation></text:p>", "a [b]"),
        ("<text:p><draw:frame><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame></text:p>", "a"),
        ("<text:tracked-changes><text:changed-region><text:deletion><text:p>a</text:p></text:deletion>"
         "</text:changed-region></text:tracked-changes><text:p>b</text:p>", "[deleted: a]\n\nb"),
        ("<table:table><table:table-row><table:table-cell table:number-columns-repeated='2'><text:p>a</text:p>"
         "</table:table-cell></table:table-row></table:table>", "| a | a |\n| --- | --- |"),
    ],
)  # fmt: skip
def test_all_text_of_a_body(body: str, text: str) -> None:
    assert read(odf(f"<office:text>{body}</office:text>"), "a.odt").strip() == text


def test_headers_of_pages() -> None:
    master = "<office:master-styles><text:p>a</text:p></office:master-styles>"
    styles = f"<office:document-styles {NAMESPACES}>{master}</office:document-styles>".encode()
    text = read(odf("<office:text><text:p>b</text:p></office:text>", beside={"styles.xml": styles}), "a.odt")
    assert text == "b\n\n--- Headers and footers ---\n\na"


@pytest.mark.parametrize(
    "body",
    [
        "<draw:frame><draw:image/></draw:frame>",
        "<draw:frame><draw:object/></draw:frame>",
        "<text:new>a</text:new>",
        "<table:table><text:p>a</text:p></table:table>",
    ],
)
def test_what_cannot_be_read_is_refused(body: str) -> None:
    with pytest.raises(Refused):
        read(odf(f"<office:text>{body}</office:text>"), "a.odt")
