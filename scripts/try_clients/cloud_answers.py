"""Answers in the forms of Amazon Bedrock, Cohere and Ollama, which `upstream.py` gives."""

import base64
import itertools
import json
import struct
from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

type Json = Any
type Call = tuple[str, str, Json] | None

EVENT_STREAM = "application/vnd.amazon.eventstream"
LINES = "application/x-ndjson"
COHERE_LINES = "application/stream+json"


def pieces(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def converse(call: Call, text: str) -> tuple[Json, bytes]:
    """Returns an answer of Converse, and that of ConverseStream."""
    usage = {"inputTokens": 5, "outputTokens": 5, "totalTokens": 10}
    more = {"usage": usage, "metrics": {"latencyMs": 1}}
    reason = {"stopReason": "tool_use" if call else "end_turn"}
    if call is None:
        block: Json = {"text": text}
        begin: list[tuple[str, Json]] = []
        deltas: list[Json] = [{"text": piece} for piece in pieces(text)]
    else:
        use = {"toolUseId": call[0], "name": call[1]}
        block = {"toolUse": {**use, "input": call[2]}}
        begin = [("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}})]
        deltas = [{"toolUse": {"input": piece}} for piece in pieces(json.dumps(call[2]))]
    events = [
        ("messageStart", {"role": "assistant"}),
        *begin,
        *(("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}) for delta in deltas),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", reason),
        ("metadata", more),
    ]
    return {"output": {"message": {"role": "assistant", "content": [block]}}, **reason, **more}, framed(events)


def chunked(events: Iterable[Json]) -> bytes:
    """Returns events of a model as InvokeModelWithResponseStream frames them."""
    coded = (base64.b64encode(json.dumps(event).encode()).decode() for event in events)
    return framed(("chunk", {"bytes": each}) for each in coded)


def framed(events: Iterable[tuple[str, Json]]) -> bytes:
    """Returns events, by their names, as a stream of AWS, with the padding that it gives each."""
    found = b""
    for (name, body), at in zip(events, itertools.count()):
        fields = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
        payload = json.dumps({**body, "p": "abcdefgh"[: at % 9]}).encode()
        head = b"".join(map(_header, fields.items()))
        prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
        frame = prelude + struct.pack(">I", crc32(prelude)) + head + payload
        found += frame + struct.pack(">I", crc32(frame))
    return found


def _header(field: tuple[str, str]) -> bytes:
    name, value = (each.encode() for each in field)
    return bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value


def cohere(call: Call, text: str) -> tuple[Json, list[Json]]:
    """Returns an answer of Cohere's chat, and the events of a streamed one."""
    reason = "TOOL_CALL" if call else "COMPLETE"
    usage = {"tokens": {"input_tokens": 5, "output_tokens": 5}}
    message: dict[str, Json] = {"role": "assistant"}
    begin: dict[str, Json] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    events: list[Json] = [{"type": "message-start", "id": "c1", "delta": {"message": begin}}]

    def event(kind: str, **members: Json) -> None:
        events.append({"type": kind, "index": 0, **({"delta": {"message": members}} if members else {})})

    if call is None:
        message["content"] = [{"type": "text", "text": text}]
        event("content-start", content={"type": "text", "text": ""})
        for piece in pieces(text):
            event("content-delta", content={"text": piece})
        event("content-end")
    else:
        arguments = json.dumps(call[2])
        made = {"id": call[0], "type": "function", "function": {"name": call[1], "arguments": arguments}}
        message |= {"tool_plan": "I save it.", "tool_calls": [made]}
        event("tool-plan-delta", tool_plan="I save it.")
        event("tool-call-start", tool_calls={**made, "function": {"name": call[1], "arguments": ""}})
        for piece in pieces(arguments):
            event("tool-call-delta", tool_calls={"function": {"arguments": piece}})
        event("tool-call-end")
    events.append({"type": "message-end", "id": "c1", "delta": {"finish_reason": reason, "usage": usage}})
    return {"id": "c1", "finish_reason": reason, "message": message, "usage": usage}, events


def cohere_lines(call: Call, text: str) -> tuple[Json, bytes]:
    """Returns an answer of the first version of Cohere's chat, and the lines of a streamed one."""
    whole: Json = {"generation_id": "g1", "text": "" if call else text, "finish_reason": "COMPLETE"}
    events: list[Json] = [{"event_type": "stream-start", "generation_id": "g1"}]
    if call is None:
        events += [{"event_type": "text-generation", "text": piece} for piece in pieces(text)]
    else:
        whole["tool_calls"] = [{"name": call[1], "parameters": call[2]}]
        deltas: list[Json] = [{"name": call[1], "index": 0}]
        deltas += [{"parameters": piece, "index": 0} for piece in pieces(json.dumps(call[2]))]
        events += [{"event_type": "tool-calls-chunk", "tool_call_delta": delta} for delta in deltas]
        events.append({"event_type": "tool-calls-generation", "tool_calls": whole["tool_calls"]})
    events.append({"event_type": "stream-end", "finish_reason": "COMPLETE", "response": whole})
    lines = [{"is_finished": event["event_type"] == "stream-end", **event} for event in events]
    return whole, b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def conversation(text: str) -> tuple[Json, list[Json]]:
    """Returns an answer of Mistral's conversations, and the events of a streamed one."""
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    said = {"id": "msg_1", "role": "assistant"}
    output = {**said, "object": "entry", "type": "message.output", "content": text}
    named = {"conversation_id": "conv_1"}
    events = [
        {"type": "conversation.response.started", **named},
        *({**said, "type": "message.output.delta", "content": piece} for piece in pieces(text)),
        {"type": "conversation.response.done", "usage": usage},
    ]
    return {"object": "conversation.response", **named, "outputs": [output], "usage": usage}, events


def ollama(call: Call, text: str) -> tuple[Json, bytes]:
    """Returns an answer of Ollama's chat, and the lines of a streamed one."""
    base = {"model": "m", "created_at": "2026-11-28T12:00:00Z"}
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 5}
    said: list[Mapping[str, Json]] = [{"content": piece} for piece in pieces(text)]
    whole: Mapping[str, Json] = {"content": text}
    if call is not None:
        whole = {"content": "", "tool_calls": [{"function": {"name": call[1], "arguments": call[2]}}]}
        said = [whole]
    lines = [{**base, "message": {"role": "assistant", **each}, "done": False} for each in said]
    lines.append({**base, "message": {"role": "assistant", "content": ""}, **end})
    streamed = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return {**base, "message": {"role": "assistant", **whole}, **end}, streamed
