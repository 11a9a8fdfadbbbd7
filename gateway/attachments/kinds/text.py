"""Plain text, and texts of programs: JSON, YAML, Markdown, logs and source code. They are sent as they are."""

from gateway.attachments.base import File, Kind, Section
from gateway.attachments.decoding import CODECS, decoded, named_in


class _Text(Kind):
    id = "text"
    title = "text"
    media_types = frozenset(
        """
        text/plain text/markdown text/x-markdown text/x-log text/yaml text/x-yaml application/yaml application/x-yaml
        application/json application/x-ndjson application/toml text/x-python text/x-java-source text/x-c
        text/x-csrc text/x-c++src text/x-go text/x-rust text/x-sh application/x-sh text/javascript text/css
        application/javascript application/sql text/x-sql text/xml application/xml
        """.split()
    )
    endings = frozenset(
        """
        txt text md markdown log json jsonl ndjson yaml yml toml ini cfg conf env properties py pyi js mjs ts tsx jsx
        java kt c h cc cpp hpp cs go rs rb php pl sh bash zsh ps1 sql css scss r scala swift lua xml xsd diff patch tex
        rst org srt vtt ics vcf
        """.split()
    )
    codecs = CODECS

    def read(self, file: File) -> list[Section]:
        return [Section("", decoded(file.data, named_in(file.media_type)))]


KIND = _Text()
