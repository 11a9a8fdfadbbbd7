"""Finds the first turn in a prompt that has a whole conversation, written as text.

The prompt of the next turn begins with that of this one. What precedes the first words of the model stays the same, so
the placeholders of the conversation are derived from it.
"""

import re

from gateway.wires.base import Body
from gateway.wires.members import object_at, objects_at, text_at

_MEMBERS = ("prompt", "inputText", "message")
# Where models begin to speak: in the templates of Llama, Mistral, Qwen, Gemma, DeepSeek and others, and in plain words.
_MODEL_SPEAKS = re.compile(
    r"\[/INST\]|<\|(?:start_header_id|header_start|im_start)\|>assistant|<start_of_turn>model|<[|｜]assistant[|｜]>"
    r"|\n\s*(?:#+ )?(?:assistant|bot|ai|model|agent|response)[ \t]*:",
    re.IGNORECASE,
)


def first_turn(prompt: str) -> str:
    """Returns the part of a prompt that precedes the first words of a model."""
    return _MODEL_SPEAKS.split(prompt, maxsplit=1)[0].strip()


def first_turn_of(body: Body) -> str:
    """Returns the first turn in the body of a model that reads a prompt; empty if it has none."""
    history = objects_at(body, "chat_history")
    given = [*(text_at(each, "message") for each in history[:1]), *(text_at(body, name) for name in _MEMBERS)]
    given.append(text_at(object_at(body, "input"), "prompt"))
    return next((turn for text in given if (turn := first_turn(text))), "")
