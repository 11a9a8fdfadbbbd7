"""E-mail addresses (RFC 5321, with letters of RFC 6531)."""

from gateway.detection.entropy import word_set
from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

EMAIL_ADDRESS = EntityType("EMAIL_ADDRESS", "contact", "An e-mail address.")


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


RECOGNIZERS = pattern_table(__file__, (EMAIL_ADDRESS,), {"plausible": _plausible})
