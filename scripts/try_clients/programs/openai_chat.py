"""The OpenAI SDK: chat completions, with a loop of tools. CLIENT may be its client of Azure."""

import json
import os

from openai import AzureOpenAI, OpenAI

BASE, KEY = os.environ["BASE"], os.environ["KEY"]
if os.environ.get("CLIENT") == "AzureOpenAI":
    client = AzureOpenAI(azure_endpoint=BASE, api_key=KEY, api_version="2024-10-21")
else:
    client = OpenAI(base_url=BASE + "/v1", api_key=KEY)
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
