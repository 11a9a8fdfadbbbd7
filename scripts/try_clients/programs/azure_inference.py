"""Azure AI Inference: chat completions, with a loop of tools."""

import json
import os

from azure.ai.inference import ChatCompletionsClient
from azure.core.credentials import AzureKeyCredential

BASE = os.environ["BASE"]
endpoint = BASE if BASE.startswith("http://") else BASE + "/models"
client = ChatCompletionsClient(endpoint, AzureKeyCredential(os.environ["KEY"]))
parameters = {"type": "object", "properties": {"value": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "save", "parameters": parameters}}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]


def streamed(updates):
    """Returns the message of a stream."""
    text, call = "", None
    for choice in (choice for update in updates for choice in update.choices):
        text += choice.delta.content or ""
        for piece in choice.delta.tool_calls or ():
            call = call or {"id": piece.id, "type": "function", "function": {"name": "save", "arguments": ""}}
            call["function"]["arguments"] += piece.function.arguments
    return {"role": "assistant", "tool_calls": [call]} if call else {"role": "assistant", "content": text}


while True:
    asked = {"model": os.environ["MODEL"], "messages": history, "tools": tools}
    if os.environ["STREAM"] == "1":
        message = streamed(client.complete(**asked, stream=True))
    else:
        message = client.complete(**asked).choices[0].message.as_dict()
    history.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        value = json.loads(call["function"]["arguments"])["value"]
        print("TOOL", value)
        history.append({"role": "tool", "tool_call_id": call["id"], "content": f"saved {value}"})
print(message["content"])
