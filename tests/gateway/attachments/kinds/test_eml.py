"""E-mail: what its alternatives say, and the files in it."""

from email.message import EmailMessage

import pytest

from gateway.attachments.base import Reason, Refused
from tests.gateway.attachments.kinds.readings import read


def message(text: str = "a") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Message-ID"] = "A <a@b.example>", "c@d.example", "Größe", "<e>"
    made.set_content(text)
    return made


def test_headers_and_text() -> None:
    assert read(message("Grüße").as_bytes(), "a.eml").strip() == (
        "From: A <a@b.example>\nTo: c@d.example\nSubject: Größe\n\nGrüße"
    )


@pytest.mark.parametrize(("html", "count"), [("<p>one <b>two</b>", 1), ("<p>one", 2)])
def test_an_alternative_that_says_more_is_kept(html: str, count: int) -> None:
    made = message("one two")
    made.add_alternative(html, subtype="html")
    assert read(made.as_bytes(), "a.eml").count("one") == count


def test_attached_files_are_converted() -> None:
    made = message()
    made.add_attachment("x;y", subtype="csv", filename="b.csv")
    made.add_attachment(message("inner"))
    text = read(made.as_bytes(), "a.eml")
    assert "--- Attached: b.csv (CSV) ---\n\nx;y\n\n--- End of b.csv ---" in text
    assert "inner" in text


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("image/png", Reason.IMAGE), ("application/pgp-encrypted", Reason.ENCRYPTED), ("video/mp4", Reason.UNKNOWN_PART)],
)
def test_other_parts_are_refused(kind: str, reason: Reason) -> None:
    main, sub = kind.split("/")
    made = message()
    made.add_related(b"a", main, sub)
    with pytest.raises(Refused) as refused:
        read(made.as_bytes(), "a.eml")
    assert refused.value.reason is reason


def test_a_text_in_another_encoding_than_it_says_is_refused() -> None:
    head = b"From: a@b.example\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\n"
    with pytest.raises(Refused) as refused:
        read(head + b"Gr\xc3\xb6", "a.eml")
    assert refused.value.reason is Reason.ENCODING
