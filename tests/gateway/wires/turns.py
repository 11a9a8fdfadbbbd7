"""Turns of agents on every wire: each sends its whole history again, with calls of tools and signed thinking.

Markers of prompt caches move to the latest block, as agents move them.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gateway.wires import Body, Wire
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.responses import WIRE as RESPONSES

MAIL = "anna.schmidt@acme.test"
SIGNED = "Made1Up2" * 8 + "=="
# A thought about a placeholder is sent back to the model as it was.
THOUGHT = "They are [EMAIL_ADDRESS_ABCDE]."
_MARK = {"type": "ephemeral", "ttl": "1h"}
_SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}
_SEND: Body = {"name": "send", "description": "Sends to boss@acme.test."}
_ASKED = f"I am {MAIL}. My PIN?"
_RULES = "You are an agent of boss@acme.test. Ask for the PIN."


@dataclass(frozen=True)
class Agent:
    """An agent: its request of a turn, counted from 0, and the fields that a provider reads, in its order."""

    wire: Wire
    path: str
    request: Callable[[int], Body]
    fields: tuple[str, ...]

    def prompt(self, body: Body) -> bytes:
        """The text that a provider compares with earlier turns, without markers and members that name the request."""
        fields = [body[field] for field in self.fields]
        read = [each for field in fields for each in (field if isinstance(field, list) else [field])]
        return b"\n".join(json.dumps(_unmarked(each)).encode() for each in read if "billing" not in json.dumps(each))


def marks(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of the markers."""
    if isinstance(value, dict) and "cache_control" in value:
        yield (*path, *value["cache_control"].items())
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        yield from marks(each, (*path, step))


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(each) for name, each in value.items() if name != "cache_control"}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value


def _steps(turns: int, step: Callable[[int, str], list[Body]]) -> list[Body]:
    return list(chain.from_iterable(step(turn, f"user{turn}@acme.test") for turn in range(turns)))


def _chat(turn: int) -> Body:
    def step(number: int, mail: str) -> list[Body]:
        call = {"name": "send", "arguments": json.dumps({"to": mail})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        result = [{"type": "text", "text": f"4{number}71 to {mail}"}]
        return [
            {"role": "assistant", "content": f"I write to {mail}.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
        ]

    asked = {"role": "user", "content": [{"type": "text", "text": _ASKED}]}
    messages: list[Body] = [{"role": "system", "content": _RULES}, asked, *_steps(turn, step)]
    messages[-1]["content"][-1]["cache_control"] = _MARK
    tools = [{"type": "function", "function": {**_SEND, "parameters": _SCHEMA}}]
    return {"model": "m", "messages": messages, "tools": tools, "prompt_cache_key": "session-1", "seed": turn}


def _responses(turn: int) -> Body:
    def step(number: int, mail: str) -> list[Body]:
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "send"}
        said = {"type": "output_text", "text": f"I write to {mail}.", "annotations": []}
        return [
            {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": SIGNED},
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [said]},
            {**call, "arguments": json.dumps({"to": mail})},
            {"type": "function_call_output", "call_id": f"call_{number}", "output": f"4{number}71 to {mail}"},
        ]

    items = [{"role": "user", "content": [{"type": "input_text", "text": _ASKED}]}, *_steps(turn, step)]
    tools = [{"type": "function", **_SEND, "parameters": _SCHEMA}]
    ids = {"prompt_cache_key": MAIL, "metadata": {"turn": str(turn)}}
    return {"model": "m", "instructions": _RULES, "input": items, "tools": tools, **ids}


def _anthropic(turn: int) -> Body:
    def step(number: int, mail: str) -> list[Body]:
        thinking = {"type": "thinking", "thinking": THOUGHT, "signature": SIGNED}
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "send", "input": {"to": mail}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"4{number}71 to {mail}"}
        return [{"role": "assistant", "content": [thinking, call]}, {"role": "user", "content": [result]}]

    system = [
        {"type": "text", "text": f"x-anthropic-billing-header: cc_version=2.1; cch={turn:05x};"},
        {"type": "text", "text": _RULES, "cache_control": _MARK},
    ]
    messages: list[Body] = [{"role": "user", "content": [{"type": "text", "text": _ASKED}]}, *_steps(turn, step)]
    messages[-1]["content"][-1]["cache_control"] = _MARK
    tools = [{**_SEND, "input_schema": _SCHEMA}]
    user = '{"device_id":"made-up-device-0001","session_id":"made-up-session"}'
    fields: Body = {"max_tokens": 1000 + turn, "stream": True, "metadata": {"user_id": user}, "tools": tools}
    return {"model": "claude-m", "system": system, "messages": messages, **fields}


def _gemini(turn: int) -> Body:
    def step(number: int, mail: str) -> list[Body]:
        call = {"functionCall": {"name": "send", "args": {"to": mail}}, "thoughtSignature": SIGNED}
        result = {"functionResponse": {"name": "send", "response": {"result": f'{{"4{number}71 to": "{mail}"}}'}}}
        return [
            {"role": "model", "parts": [{"text": f"To {mail}.", "thought": True}, call]},
            {"role": "user", "parts": [result]},
        ]

    contents = [{"role": "user", "parts": [{"text": _ASKED}]}, *_steps(turn, step)]
    tools = [{"functionDeclarations": [{**_SEND, "parameters": _SCHEMA}]}]
    system = {"parts": [{"text": _RULES}]}
    return {
        "systemInstruction": system,
        "tools": tools,
        "contents": contents,
        "generationConfig": {"maxOutputTokens": 1000 + turn},
    }


AGENTS = {
    "chat completions": Agent(CHAT, "/v1/chat/completions", _chat, ("tools", "messages")),
    "responses": Agent(RESPONSES, "/v1/responses", _responses, ("tools", "instructions", "input")),
    "anthropic": Agent(ANTHROPIC, "/v1/messages", _anthropic, ("tools", "system", "messages")),
    "gemini": Agent(
        GEMINI, "/v1beta/models/gemini-m:generateContent", _gemini, ("tools", "systemInstruction", "contents")
    ),
}
