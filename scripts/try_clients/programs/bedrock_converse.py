"""AWS's SDK: Converse and ConverseStream, with a loop of tools. With GRANTED it signs its requests."""

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
    """Returns the message of a stream."""
    blocks, said = [], ""
    for event in events:
        if "contentBlockStart" in event:
            blocks.append(event["contentBlockStart"]["start"])
        elif "contentBlockDelta" in event:
            delta = event["contentBlockDelta"]["delta"]
            said += delta["toolUse"]["input"] if "toolUse" in delta else delta["text"]
        elif "contentBlockStop" in event and blocks:
            blocks[-1]["toolUse"]["input"] = json.loads(said)
    return {"role": "assistant", "content": blocks or [{"text": said}]}


schema = {"json": {"type": "object", "properties": {"value": {"type": "string"}}}}
tools = {"tools": [{"toolSpec": {"name": "save", "inputSchema": schema}}]}
history = [{"role": "user", "content": [{"text": os.environ["PROMPT"]}]}]
while True:
    asked = {"modelId": os.environ["MODEL"], "messages": history, "toolConfig": tools}
    if os.environ["STREAM"] == "1":
        message = streamed(client.converse_stream(**asked)["stream"])
    else:
        message = client.converse(**asked)["output"]["message"]
    history.append(message)
    calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not calls:
        break
    results = []
    for call in calls:
        value = call["input"]["value"]
        print("TOOL", value)
        results.append({"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": f"saved {value}"}]}})
    history.append({"role": "user", "content": results})
print(message["content"][0]["text"])
