"""Presentations: slides in order, notes, groups, links, and what layouts show."""

import io

import pptx
from pptx.util import Inches

from tests.gateway.attachments.kinds.readings import read


def test_everything_on_slides() -> None:
    made = pptx.Presentation()
    for number in range(2):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = f"title {number}"
        group = slide.shapes.add_group_shape()
        box = group.shapes.add_textbox(Inches(1), Inches(1), Inches(1), Inches(1))
        box.text_frame.text = f"grouped {number}"
        box.name = "no text"
        box.text_frame.paragraphs[0].runs[0].hyperlink.address = f"https://a.example/{number}"
        slide.notes_slide.notes_text_frame.text = f"note {number}"
    layout = made.slide_layouts[5]
    box = made.slides[0].shapes.add_textbox(0, 0, 9, 9)
    box.text_frame.text = "company"
    layout.shapes._spTree.append(box._element)
    held = io.BytesIO()
    made.save(held)
    text = read(held.getvalue(), "a.pptx")
    first, second = text.split("--- Slide 2 ---")
    for number, page in enumerate((first, second)):
        places = [page.find(f"{each} {number}") for each in ("title", "grouped", "note")]
        assert places == sorted(places)
        assert min(places) > 0
        assert f"(https://a.example/{number})" in page
    assert text.count("company") == 1
    assert "Click to edit" not in text
    assert "no text" not in text
