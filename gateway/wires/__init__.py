"""Wire protocols: one file each."""

from gateway.wires.base import AnswerText, Body, Conversation, Wire, Wires

__all__ = ["AnswerText", "Body", "Conversation", "Wire", "Wires"]
