"""Restores a streamed answer while it arrives, event by event, in the process that moves the bytes.

framing        divides a body into events and joins them again; event_stream is that of AWS
channels       the texts that grow by pieces, each guarded and restored on its own
answer_stream  the answer as a whole: what arrives in, what the client gets out

Knows no wire: `gateway.wires` says which strings of an event are text, and which text each continues.
"""

from gateway.exchange.streaming.answer_stream import AnswerStream

__all__ = ["AnswerStream"]
