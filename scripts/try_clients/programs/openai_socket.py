"""The OpenAI SDK: Responses over a WebSocket. A lost connection makes it send the whole conversation again."""

import json
import os

from openai import OpenAI
from websockets.exceptions import ConnectionClosed

client = OpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"])
parameters = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
tools = [{"type": "function", "name": "save", "parameters": parameters, "strict": False}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]
connection, new, more = client.responses.connect().enter(), history, {}
while True:
    answer = None
    try:
        connection.response.create(model=os.environ["MODEL"], input=new, tools=tools, store=False, **more)
        for event in connection:
            if event.type == "error":
                raise SystemExit(event.to_json())
            if event.type == "response.completed":
                answer = event.response
                break
    except ConnectionClosed:
        pass
    if answer is None:
        connection, new, more = client.responses.connect().enter(), history, {}
        continue
    calls = [item for item in answer.output if item.type == "function_call"]
    history = history + [item.model_dump(exclude_none=True) for item in answer.output]
    if not calls:
        break
    new, more = [], {"previous_response_id": answer.id}
    for call in calls:
        value = json.loads(call.arguments)["value"]
        print("TOOL", value)
        new.append({"type": "function_call_output", "call_id": call.call_id, "output": f"saved {value}"})
    history = history + new
print(answer.output_text)
connection.close()
