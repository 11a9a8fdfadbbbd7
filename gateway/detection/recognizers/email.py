"""E-mail addresses (RFC 5321, with letters of RFC 6531), including spelled-out ones."""

from gateway.detection.alphabet import LETTERS
from gateway.detection.entropy import word_set
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

EMAIL_ADDRESS = EntityType("EMAIL_ADDRESS", "contact", "An e-mail address.")

_LOCAL = rf"[{LETTERS}\d_](?:[{LETTERS}\d._%+'\-]*[{LETTERS}\d_+\-])?"
_LABEL = rf"[{LETTERS}\d](?:[{LETTERS}\d\-]*[{LETTERS}\d])?"
_TOP = rf"(?:xn--[A-Za-z0-9\-]+|[{LETTERS}]{{2,24}})"
_AT = r"\s?[\[({<]\s?(?i:at)\s?[\])}>]\s?"
_DOT = r"(?:\.|\s?[\[({<]\s?(?i:dot)\s?[\])}>]\s?)"

# `logo@2x.png` is a file, `git@host:path` a repository.
_FILES = word_set("png jpg jpeg gif svg webp ico css scss js mjs ts tsx json html htm map pdf mp4")
_REPOSITORY_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "ssh.dev.azure.com"})


def _plausible(value: str) -> bool | None:
    local, _, host = value.lower().rpartition("@")
    if local == "git" and host in _REPOSITORY_HOSTS:
        return False
    if host.rpartition(".")[2] in _FILES:
        return False
    return None


RECOGNIZERS = (
    PatternRecognizer(
        "email.plain",
        EMAIL_ADDRESS,
        (Pattern(rf"{_LOCAL}@(?:{_LABEL}\.)+{_TOP}", 0.95, prefilter=r"[^\s@]@[^\s@.]", reach=(128, 255)),),
        validator=_plausible,
        examples=(
            Example("Write to jane.doe+news@mail.acme.co.uk.", "jane.doe+news@mail.acme.co.uk"),
            Example("<mailto:o'brien@acme.org>", "o'brien@acme.org"),
            Example("josé@münchen.de", "josé@münchen.de"),
            Example("user@xn--80ak6aa92e.com", "user@xn--80ak6aa92e.com"),
        ),
        counter_examples=(
            "info@acme.",
            "logo@2x.png",
            "git@github.com:acme/tools.git",
            "left-pad@1.3.0",
            "@media print",
        ),
    ),
    PatternRecognizer(
        "email.spelled",
        EMAIL_ADDRESS,
        (Pattern(rf"{_LOCAL}{_AT}(?:{_LABEL}{_DOT})+{_TOP}", 0.85, prefilter=_AT),),
        examples=(Example("jane.doe [at] acme [dot] org", "jane.doe [at] acme [dot] org"),),
        counter_examples=("We meet (at) noon.", "f (at) x"),
    ),
)
