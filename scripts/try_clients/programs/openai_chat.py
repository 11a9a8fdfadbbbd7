"""The OpenAI SDK: chat completions, with a loop of tools."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"])
function = {"name": "save", "parameters": {"type": "object", "properties": {"value": {"type": "string"}}}}
tools = [{"type": "function", "function": function}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]
while True:
    asked = {"model": os.environ["MODEL"], "messages": history, "tools": tools}
    if os.environ["STREAM"] == "1":
        with client.chat.completions.stream(**asked) as stream:
            answer = stream.get_final_completion()
    else:
        answer = client.chat.completions.create(**asked)
    message = answer.choices[0].message
    history.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        value = json.loads(call.function.arguments)["value"]
        print("TOOL", value)
        history.append({"role": "tool", "tool_call_id": call.id, "content": f"saved {value}"})
print(message.content)
