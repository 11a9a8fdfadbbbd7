"""LiteLLM's SDK, with a loop of tools."""

import json
import os

import litellm

litellm.telemetry = False
function = {"name": "save", "parameters": {"type": "object", "properties": {"value": {"type": "string"}}}}
history = [{"role": "user", "content": os.environ["PROMPT"]}]
while True:
    stream = os.environ["STREAM"] == "1"
    answer = litellm.completion(
        model="openai/" + os.environ["MODEL"],
        api_base=os.environ["BASE"] + "/v1",
        api_key=os.environ["KEY"],
        messages=history,
        tools=[{"type": "function", "function": function}],
        stream=stream,
    )
    if stream:
        answer = litellm.stream_chunk_builder(list(answer))
    message = answer.choices[0].message
    history.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        value = json.loads(call.function.arguments)["value"]
        print("TOOL", value)
        history.append({"role": "tool", "tool_call_id": call.id, "content": f"saved {value}"})
print(message.content)
