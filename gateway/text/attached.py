"""The field of a file that a request has with it, which is converted to text, sent as it is, or refused."""

from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gateway.text.fields import MessageField, Place, TextField


class AttachmentField(TextField):
    """A file in base64. It has no text until it is converted, and nothing may be sent before `is_decided`.

    `write` puts a text in the place of the file, and returns where it is. `passing` yields the fields of the part that
    has the file, for the case that it is sent as it is. `labels` are the kinds of content that it counts as.
    """

    __slots__ = ("_passing", "_write", "data", "is_decided", "labels", "media_type", "name")

    def __init__(
        self,
        data: str,
        media_type: str,
        name: str,
        labels: Iterable[str],
        write: Callable[[str], tuple[Any, Any]],
        passing: Callable[[], Iterable[MessageField]],
    ) -> None:
        super().__init__({}, "", "")
        self.place = Place.MESSAGE
        self.texts = ()
        self.data = data
        self.media_type = media_type
        self.name = name
        self.labels = frozenset(labels)
        self.is_decided = False
        self._write = write
        self._passing = passing

    def decoded(self) -> bytes | None:
        """Returns the file; None if it is not in base64."""
        try:
            return a2b_base64(self.data.translate(_URL_SAFE).encode("ascii"))
        except (Base64Error, UnicodeEncodeError):
            return None

    def convert(self, text: str) -> None:
        """Puts a text in the place of the file. It is still to be protected."""
        self.container, self.key = self._write(text)
        self.texts, self._now, self.is_decided = (text,), text, True
        self.data = ""

    def let_pass(self) -> list[MessageField]:
        """Leaves the file as it is. Returns the other fields of its part, which replace this one."""
        self.is_decided = True
        fields = [*self._passing()]
        for each in fields:
            each.place = self.place
        return fields

    def protected(self) -> Sequence[str]:
        return (self._now,) if self.texts else ()


_URL_SAFE = str.maketrans("-_", "+/")
