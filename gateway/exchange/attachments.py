"""Replaces the files of a request by their text, before that is protected, or refuses the request.

A file is converted each time that it is sent: a conversation sends it again with every turn, and gets the same text.
"""

from functools import partial
from hashlib import sha256
from typing import NamedTuple

from gateway.attachments.base import MOST_PAGES, Converted, File, Reason, Refused
from gateway.attachments.converter import Converter
from gateway.attachments.registry import EXTRA, installed, kind_of
from gateway.errors import GatewayError, UnsupportedMedia
from gateway.models import Caller
from gateway.policy.model import Policy
from gateway.text.attached import AttachmentField
from gateway.text.fields import MessageField
from gateway.wires.base import Conversation
from gateway.workers.thread_pool import Workers

_MOST_FILES = 32
_LIMIT = 16
_SECONDS = 90.0
"""For the start of a process, which may wait for others, and for the reading of a file, which `Converter` bounds."""
_PAGED = {"xlsx": "sheet", "pptx": "slide", "pdf": "page"}


class SentFile(NamedTuple):
    """A file of a request: its kind, what happened to it, and its pages if it was converted."""

    field: AttachmentField
    kind: str
    action: str
    pages: int = 0

    def recorded(self) -> dict[str, str | int]:
        """Returns what the receipt holds of it. The digest is of its protected text, or of its base64."""
        sent = self.field.protected()[0] if self.action == "convert" else self.field.data
        pages = {"pages": self.pages} if self.pages else {}
        digest = sha256(sent.encode("utf-8", "surrogatepass")).hexdigest()
        return {"kind": self.kind, "action": self.action, **pages, "digest": digest}


class Attachments:
    """Converts the files of requests: a few at a time, in turn for each key."""

    def __init__(self, threads: int = 2) -> None:
        self._converter = Converter()
        self._workers = Workers(threads, _LIMIT, _SECONDS)

    async def decide(self, conversation: Conversation, policy: Policy, caller: Caller) -> list[SentFile]:
        """Converts each file of a conversation, or leaves it as it is, by the policy.

        Raises UnsupportedMedia for one that is refused, and Unavailable if too many wait.
        """
        documents = conversation.documents()
        if len(documents) > _MOST_FILES:
            raise _refusal(f"A request may have at most {_MOST_FILES} attached files; divide it.")
        sent = let_pass(conversation, policy)
        for each in conversation.documents():
            kind = _kind(each)
            handling = policy.handling_of(kind)
            if handling == "refuse":
                raise _refusal(_UNCONVERTED if kind == "other" else f"The policy refuses attached files ({kind}).")
            converted = await self._workers.run(partial(self._convert, each), key=caller.key_id, cost=len(each.data))
            each.convert(_marked(each.name, converted))
            sent.append(SentFile(each, kind, "convert", min(converted.pages, MOST_PAGES)))
        return sent

    def close(self) -> None:
        """Stops the threads and the process that is ready."""
        self._workers.close()
        self._converter.close()

    def _convert(self, field: AttachmentField) -> Converted:
        """Returns the text of a file. Blocks: a job for a worker."""
        if not installed():
            raise _refusal(
                f"Attached files are converted to text only with the extra `{EXTRA}`: "
                f"`pip install 'privacy-gateway[{EXTRA}]'`."
            )
        data = field.decoded()
        if data is None:
            raise _refusal("An attached file is not in base64.")
        try:
            return self._converter.convert(File(data, field.media_type, field.name))
        except Refused as refused:
            raise _refusal(_because(refused.reason)) from None


_UNCONVERTED = "Parts that are not text cannot be protected; the member `attachments` of the policy can let them pass."


def let_pass(conversation: Conversation, policy: Policy) -> list[SentFile]:
    """Leaves the files as they are that the policy lets pass, and returns them."""
    sent: list[SentFile] = []
    instead: dict[int, list[MessageField]] = {}
    for each in conversation.documents():
        kind = _kind(each)
        if policy.handling_of(kind) == "pass":
            instead[id(each)] = each.let_pass()
            sent.append(SentFile(each, kind, "pass"))
    if instead:
        for block in conversation.blocks:
            block[:] = [field for each in block for field in instead.get(id(each), [each])]
    return sent


def check_decided(conversation: Conversation) -> None:
    """Raises UnsupportedMedia for a file that is neither converted nor let pass, as in calls that never do either."""
    if any(not each.is_decided for each in conversation.documents()):
        raise _refusal("Attached files cannot be converted in this call; send their text.")


def _kind(field: AttachmentField) -> str:
    try:
        return kind_of(File(b"", field.media_type, field.name)).id
    except Refused:
        return "other"


def _marked(name: str, converted: Converted) -> str:
    """Returns the text of a file between lines that say what it is."""
    unit = _PAGED.get(converted.kind)
    size = f", {converted.pages} {unit}{'s' * (converted.pages != 1)}" if unit else ""
    said = f"Attached file: {name}" if name else "Attached file"
    text = converted.text.strip("\n")
    return f"{said} ({converted.title}{size}, converted to text)\n\n{text}\n\n(End of the attached file)"


def _because(reason: Reason) -> str:
    return f"An attached file {reason.value}."


def _refusal(message: str) -> GatewayError:
    return UnsupportedMedia(message, code="attachment_refused", param="messages")
