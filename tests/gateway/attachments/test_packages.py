"""Archives are opened within limits, and XML without document types."""

import pytest

from gateway.attachments import packages
from gateway.attachments.base import Reason, Refused
from gateway.attachments.packages import Package, attribute, descendants, local, prepare, xml
from tests.gateway.attachments.documents import zipped


def test_the_parts_of_an_archive() -> None:
    package = Package(zipped({"a/b.xml": b'<a:x xmlns:a="c" a:y="z"><a:w/></a:x>', "c/": b""}))
    assert list(package.parts) == ["a/b.xml"]
    root = package.xml("a/b.xml")
    assert (local(root.tag), attribute(root, "y"), attribute(root, "w")) == ("x", "z", None)
    assert [local(each.tag) for each in descendants(root, "w")] == ["w"]
    prepare()


@pytest.mark.parametrize("missing", ["c", "../a"])
def test_a_part_that_is_missing(missing: str) -> None:
    with pytest.raises(Refused):
        Package(zipped({"a": b""})).xml(missing)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MOST_PARTS", 2)
    monkeypatch.setattr(packages, "MOST_EXPANDED", 10)
    assert len(Package(zipped({"a": b"12345", "b": b"12345"})).parts) == 2
    for parts in ({"a": b"12345", "b": b"123456"}, {"a": b"", "b": b"", "c": b""}):
        with pytest.raises(Refused) as refused:
            Package(zipped(parts))
        assert refused.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", zipped({"a": b"b"}) + b"c", b"c" + zipped({"a": b"b"})])
def test_what_is_no_archive(data: bytes) -> None:
    with pytest.raises(Refused):
        Package(data)


@pytest.mark.parametrize(
    ("text", "reason"),
    [(b"<a", Reason.MALFORMED), (b"<!DOCTYPE a><a/>", Reason.ACTIVE), (b"<a>&b;</a>", Reason.MALFORMED)],
)
def test_what_is_no_plain_xml(text: bytes, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        xml(text)
    assert refused.value.reason is reason
