"""A session with a value of each kind that the vectors speak of."""

import re
from collections.abc import Mapping

import pytest

from gateway.placeholders import Placeholders

KEY = b"k" * 32
VALUES = {
    "email": ("EMAIL_ADDRESS", "anna@acme.test"),
    "person": ("PERSON", "Anna Example"),
    "phone": ("PHONE_NUMBER", "+49 30 1234567"),
    "url": ("URL", "https://intranet.acme.test/a"),
}
_TOKEN = re.compile(r"\{\{(\+?)(\w+)(?::(\w+))?\}\}")


class Session:
    """A session, and texts written with `{{name}}` for its placeholders (`{{+name}}` where it is to be opened)."""

    def __init__(self) -> None:
        self.placeholders = Placeholders(KEY)
        self.names: Mapping[str, str] = {
            name: self.placeholders.mint(kind, value) for name, (kind, value) in VALUES.items()
        }

    def protected(self, text: str) -> str:
        return _TOKEN.sub(lambda match: self._spelled(match[2], match[3]), text)

    def expected(self, text: str) -> str:
        return _TOKEN.sub(lambda match: VALUES[match[2]][1] if match[1] else self._spelled(match[2], match[3]), text)

    def closed(self, text: str) -> set[str]:
        return {self.names[match[2]] for match in _TOKEN.finditer(text) if not match[1]}

    def opened(self, text: str) -> int:
        return sum(bool(match[1]) for match in _TOKEN.finditer(text))

    def _spelled(self, name: str, form: str | None) -> str:
        placeholder = self.names[name]
        core = placeholder[1:-1]
        kind, _, tag = core.rpartition("_")
        forms = {
            None: placeholder,
            "core": core,
            "kind": kind,
            "tag": tag,
            "lower": core.lower(),
            "percent": core.replace("_", "%5F"),
            "spaces": core.replace("_", " "),
            "hyphens": core.replace("_", "-"),
            "escaped": core.replace("_", "\\_"),
            "wide": "".join(chr(ord(char) + 0xFEE0) for char in core),
            "misread": f"{kind}_{tag.replace('0', 'O').replace('1', 'l')}",
        }
        return forms[form]


@pytest.fixture(scope="session")
def session() -> Session:
    return Session()
