"""Tables as lines of values, divided by commas, semicolons or tabs. Models read them as they are."""

from gateway.attachments.base import File, Kind, Section
from gateway.attachments.decoding import decoded, named_in


class _Csv(Kind):
    id = "csv"
    title = "CSV"
    media_types = frozenset({"text/csv", "application/csv", "text/tab-separated-values"})
    endings = frozenset({"csv", "tsv"})

    def read(self, file: File) -> list[Section]:
        return [Section("", decoded(file.data, named_in(file.media_type)))]


KIND = _Csv()
