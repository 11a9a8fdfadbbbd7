"""AWS's SDK: InvokeModel and its stream with Anthropic's bodies, with a loop of tools. With GRANTED it signs."""

import json
import os

import boto3
from botocore import UNSIGNED
from botocore.config import Config

BASE, GRANTED = os.environ["BASE"], os.environ.get("GRANTED")
at_gateway = BASE.startswith("http://")
if not GRANTED and not at_gateway:
    os.environ["AWS_BEARER_TOKEN_BEDROCK"] = os.environ["KEY"]
client = boto3.client(
    "bedrock-runtime",
    endpoint_url=BASE if at_gateway else None,
    config=Config(signature_version=UNSIGNED) if at_gateway and not GRANTED else None,
)
if GRANTED or at_gateway:
    header = {"X-SVC-Key": GRANTED or os.environ["KEY"]}
    client.meta.events.register("before-call.bedrock-runtime", lambda params, **_: params["headers"].update(header))


def streamed(events):
    """Returns the content of a stream."""
    said = ""
    for event in (json.loads(each["chunk"]["bytes"]) for each in events):
        if event["type"] == "content_block_start":
            block = event["content_block"]
        elif event["type"] == "content_block_delta":
            said += event["delta"].get("text") or event["delta"].get("partial_json", "")
    return [{**block, "input": json.loads(said)} if block["type"] == "tool_use" else {**block, "text": said}]


schema = {"type": "object", "properties": {"value": {"type": "string"}}}
asked = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 100, "messages": []}
asked["tools"] = [{"name": "save", "input_schema": schema}]
asked["messages"].append({"role": "user", "content": os.environ["PROMPT"]})
while True:
    given = {"modelId": os.environ["MODEL"], "body": json.dumps(asked)}
    if os.environ["STREAM"] == "1":
        content = streamed(client.invoke_model_with_response_stream(**given)["body"])
    else:
        content = json.loads(client.invoke_model(**given)["body"].read())["content"]
    asked["messages"].append({"role": "assistant", "content": content})
    calls = [block for block in content if block["type"] == "tool_use"]
    if not calls:
        break
    results = []
    for call in calls:
        value = call["input"]["value"]
        print("TOOL", value)
        results.append({"type": "tool_result", "tool_use_id": call["id"], "content": f"saved {value}"})
    asked["messages"].append({"role": "user", "content": results})
print(content[0]["text"])
