"""Web pages."""

import re

from gateway.attachments.base import File, Kind, Section
from gateway.attachments.decoding import decoded, named_in
from gateway.attachments.hypertext import text_of

_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)


class _Html(Kind):
    id = "html"
    title = "HTML"
    media_types = frozenset({"text/html", "application/xhtml+xml"})
    endings = frozenset({"html", "htm", "xhtml"})

    def read(self, file: File) -> list[Section]:
        found = _META.search(file.data[:2048])
        named = named_in(file.media_type) or (found[1].decode("ascii", "replace") if found else None)
        return [Section("", text_of(decoded(file.data, named)))]


KIND = _Html()
