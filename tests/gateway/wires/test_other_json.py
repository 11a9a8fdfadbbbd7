"""Calls that no wire knows: what is read as text, and what as a file."""

from gateway.wires.other_json import OTHER_JSON


def test_a_file_is_left_out_of_the_texts() -> None:
    data = "iVBORw0KGgo" + "A" * 60
    conversation = OTHER_JSON.read({"image": data, "prompt": "draw"})
    assert conversation.attachments == ("data",)
    assert data not in " ".join(conversation.texts())
    assert any("draw" in text for text in conversation.texts())
