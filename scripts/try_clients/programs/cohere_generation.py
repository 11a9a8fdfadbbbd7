"""Cohere's SDK: its first version of chat, with a loop of tools."""

import os

from cohere import Client

BASE = os.environ["BASE"]
client = Client(os.environ["KEY"], base_url=BASE if BASE.startswith("http://") else None)
parameters = {"value": {"description": "What to save", "type": "str", "required": True}}
tools = [{"name": "save", "description": "Saves a value", "parameter_definitions": parameters}]
results = []


def streamed(events):
    """Returns the answer of a stream, whose pieces have to be those of its end."""
    text = pieces = ""
    for event in events:
        if event.event_type == "text-generation":
            text += event.text
        elif event.event_type == "tool-calls-chunk":
            pieces += event.tool_call_delta.parameters or ""
        elif event.event_type == "stream-end":
            answer = event.response
    assert text == answer.text, (text, answer.text)
    assert all(call.parameters["value"] in pieces for call in answer.tool_calls or ()), pieces
    return answer


while True:
    asked = {"model": os.environ["MODEL"], "message": os.environ["PROMPT"], "tools": tools}
    if results:
        asked["tool_results"] = results
    answer = streamed(client.chat_stream(**asked)) if os.environ["STREAM"] == "1" else client.chat(**asked)
    if not answer.tool_calls:
        break
    for call in answer.tool_calls:
        value = call.parameters["value"]
        print("TOOL", value)
        results = [*results, {"call": call, "outputs": [{"text": f"saved {value}"}]}]
print(answer.text)
