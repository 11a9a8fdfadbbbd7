"""The Anthropic SDK: messages, with a loop of tools. CLIENT is its client of a cloud."""

import os

import anthropic

BASE, KEY = os.environ["BASE"], os.environ["KEY"]
GRANTED, TOKEN = os.environ.get("GRANTED"), os.environ.get("TOKEN")
name, at_gateway = os.environ.get("CLIENT", "Anthropic"), BASE.startswith("http://")
given = {}
if at_gateway or name == "Anthropic":
    given["base_url"] = BASE + ("/v1" if name == "AnthropicVertex" else "")
if GRANTED or (TOKEN and at_gateway):
    given["default_headers"] = {"X-SVC-Key": GRANTED or KEY}
if not GRANTED:
    given |= {"access_token": TOKEN} if TOKEN else {"api_key": KEY}
client = getattr(anthropic, name)(**given)
schema = {"type": "object", "properties": {"value": {"type": "string"}}}
tools = [{"name": "save", "input_schema": schema}]
history = [{"role": "user", "content": os.environ["PROMPT"]}]
while True:
    asked = {"model": os.environ["MODEL"], "max_tokens": 100, "messages": history, "tools": tools}
    if os.environ["STREAM"] == "1":
        with client.messages.stream(**asked) as stream:
            answer = stream.get_final_message()
    else:
        answer = client.messages.create(**asked)
    history.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]})
    calls = [block for block in answer.content if block.type == "tool_use"]
    if not calls:
        break
    results = []
    for call in calls:
        print("TOOL", call.input["value"])
        results.append({"type": "tool_result", "tool_use_id": call.id, "content": f"saved {call.input['value']}"})
    history.append({"role": "user", "content": results})
print(answer.content[0].text)
