"""The OpenAI SDK: Responses, with a loop of tools."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"])
parameters = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
tools = [{"type": "function", "name": "save", "parameters": parameters, "strict": False}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]
while True:
    asked = {"model": os.environ["MODEL"], "input": history, "tools": tools, "store": False}
    if os.environ["STREAM"] == "1":
        with client.responses.stream(**asked) as stream:
            answer = stream.get_final_response()
    else:
        answer = client.responses.create(**asked)
    calls = [item for item in answer.output if item.type == "function_call"]
    history += [item.model_dump(exclude_none=True) for item in answer.output]
    if not calls:
        break
    for call in calls:
        value = json.loads(call.arguments)["value"]
        print("TOOL", value)
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": f"saved {value}"})
print(answer.output_text)
