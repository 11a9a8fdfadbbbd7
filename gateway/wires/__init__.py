"""Wire protocols: which parts of a request and an answer are text. One file each; discovery finds it.

Wires parse and describe; protecting and restoring is done by `gateway.exchange`.
"""

from gateway.text.answers import AnswerText, Channel
from gateway.wires.base import (
    Body,
    Conversation,
    EventFormat,
    Framing,
    Wire,
    Wires,
)

__all__ = [
    "AnswerText",
    "Body",
    "Channel",
    "Conversation",
    "EventFormat",
    "Framing",
    "Wire",
    "Wires",
]
