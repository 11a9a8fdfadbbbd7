"""Ollama's SDK, with a loop of tools."""

import os

from ollama import Client

client = Client(host=os.environ["BASE"], headers={"Authorization": f"Bearer {os.environ['KEY']}"})
parameters = {"type": "object", "properties": {"value": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "save", "parameters": parameters}}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]
while True:
    asked = {"model": os.environ["MODEL"], "messages": history, "tools": tools}
    stream = os.environ["STREAM"] == "1"
    parts = [part.message for part in client.chat(**asked, stream=True)] if stream else [client.chat(**asked).message]
    calls = [call for part in parts for call in part.tool_calls or ()]
    text = "".join(part.content or "" for part in parts)
    history.append({"role": "assistant", "content": text, "tool_calls": [call.model_dump() for call in calls]})
    if not calls:
        break
    for call in calls:
        value = call.function.arguments["value"]
        print("TOOL", value)
        history.append({"role": "tool", "tool_name": "save", "content": f"saved {value}"})
print(text)
