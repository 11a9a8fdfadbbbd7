"""Implements the fill-in-the-middle wire of Mistral's API (POST …/fim/completions).

A request is one of the legacy completions wire, and the answer is one of chat completions.
"""

import re

from gateway.text.answers import AnswerText
from gateway.wires.base import Body
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.completions import Completions


class FimCompletions(Completions):
    """The wire. Stateless."""

    id = "mistral-fim"
    stream = CHAT.stream
    path = re.compile(r"(?:/[\w.-]+)*/fim/completions\Z")
    method = "fim/completions"

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return CHAT.answer_texts(body)

    def refuse_answer(self, body: Body, message: str) -> None:
        CHAT.refuse_answer(body, message)


WIRE = FimCompletions()
