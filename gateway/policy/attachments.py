"""Defines what policies say of attached files, for all or for each kind of `gateway.attachments`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

type Handling = Literal["convert", "refuse", "pass"]
"""The handling of an attached file: it is replaced by its protected text, refuses the request, or is sent as it is."""


class AttachmentsDocument(BaseModel):
    """The handling of attached files by kind. `other` are those that cannot be converted: images, audio, links."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    text: Handling = "convert"
    csv: Handling = "convert"
    html: Handling = "convert"
    eml: Handling = "convert"
    rtf: Handling = "convert"
    docx: Handling = "convert"
    xlsx: Handling = "convert"
    pptx: Handling = "convert"
    odf: Handling = "convert"
    pdf: Handling = "convert"
    other: Literal["refuse", "pass"] = "refuse"
