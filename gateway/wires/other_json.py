"""Reads the JSON of calls that no wire knows: every string, key and long number in them is text.

The proxy protects such calls to intercepted hosts, since their clients cannot be changed. This wire serves no path.
"""

from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Conversation, Family
from gateway.wires.reading import answer_strings, opening_of, text_fields, unknown_keys

_NONE = frozenset[str]()


class OtherJson:
    """The wire. Stateless."""

    id = "other-json"
    family: Family = "openai"
    stream = None

    def serves(self, method: str, path: str) -> bool:
        return False

    def model(self, body: Body, path: str) -> object:
        return None

    def set_model(self, body: Body, model: str) -> None:
        """Changes nothing: a `model` in the body is text like the rest."""

    def method_path(self, path: str, model: str) -> str:
        return path.removeprefix("/")

    def read(self, body: Body, path: str = "") -> Conversation:
        attachments = set[str]()
        seed = opening_of(body)
        fields = [field for key, value in body.items() for field in text_fields(body, key, value, _NONE, attachments)]
        block = [*fields, *unknown_keys(body, _NONE)]
        return Conversation(body, "", False, [block], seed, attachments=tuple(sorted(attachments)))

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [text for key, value in body.items() for text in answer_strings(value, body, key, 0)]

    def usage(self, body: Body) -> tuple[int, int] | None:
        return None

    def annotate(self, body: Body, note: Body | None) -> None:
        """Changes nothing: proxy clients get no note."""

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body["error"] = {"message": message, "type": "content_filter"}


OTHER_JSON = OtherJson()
