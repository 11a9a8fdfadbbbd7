"""Mistral's SDK: chat or agents with a loop of tools, or code, as METHOD says."""

import json
import os

from mistralai.client import Mistral

BASE, METHOD = os.environ["BASE"], os.environ["METHOD"]
client = Mistral(api_key=os.environ["KEY"], server_url=BASE if BASE.startswith("http://") else None)
parameters = {"type": "object", "properties": {"value": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "save", "parameters": parameters}}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]
asked = {"agent_id" if METHOD == "agents" else "model": os.environ["MODEL"]}
asked |= {"prompt": os.environ["PROMPT"]} if METHOD == "fim" else {"messages": history, "tools": tools}
calls_of = getattr(client, METHOD)


def streamed(events):
    """Returns the message of a stream."""
    text, call = "", None
    for delta in (choice.delta for event in events for choice in event.data.choices):
        text += delta.content or ""
        for piece in delta.tool_calls or ():
            call = call or {"id": piece.id, "type": "function", "function": {"name": "save", "arguments": ""}}
            call["function"]["arguments"] += piece.function.arguments
    return {"role": "assistant", "content": text, **({"tool_calls": [call]} if call else {})}


while True:
    if os.environ["STREAM"] == "1":
        message = streamed(calls_of.stream(**asked))
    else:
        message = calls_of.complete(**asked).choices[0].message.model_dump(exclude_none=True)
    history.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        value = json.loads(call["function"]["arguments"])["value"]
        print("TOOL", value)
        history.append({"role": "tool", "tool_call_id": call["id"], "name": "save", "content": f"saved {value}"})
print(message["content"])
