"""Cohere's SDK: its second version of chat, with a loop of tools."""

import json
import os

from cohere import ClientV2

BASE = os.environ["BASE"]
client = ClientV2(os.environ["KEY"], base_url=BASE if BASE.startswith("http://") else None)
parameters = {"type": "object", "properties": {"value": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "save", "parameters": parameters}}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]


def streamed(events):
    """Returns the message of a stream."""
    text, plan, call = "", "", None
    for event in events:
        if event.type == "content-delta":
            text += event.delta.message.content.text
        elif event.type == "tool-plan-delta":
            plan += event.delta.message.tool_plan
        elif event.type == "tool-call-start":
            call = event.delta.message.tool_calls.model_dump()
        elif event.type == "tool-call-delta":
            call["function"]["arguments"] += event.delta.message.tool_calls.function.arguments
    said = {"tool_plan": plan, "tool_calls": [call]} if call else {"content": [{"type": "text", "text": text}]}
    return {"role": "assistant", **said}


while True:
    asked = {"model": os.environ["MODEL"], "messages": history, "tools": tools}
    if os.environ["STREAM"] == "1":
        message = streamed(client.chat_stream(**asked))
    else:
        message = client.chat(**asked).message.model_dump(exclude_none=True)
    history.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        value = json.loads(call["function"]["arguments"])["value"]
        print("TOOL", value)
        history.append({"role": "tool", "tool_call_id": call["id"], "content": f"saved {value}"})
print(message["content"][0]["text"])
