"""AWS's SDK with a loop of tools: Converse, or InvokeModel with Anthropic's bodies. With GRANTED it signs."""

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

streams = os.environ["STREAM"] == "1"
schema = {"type": "object", "properties": {"value": {"type": "string"}}}


class Converse:
    """Asks by Converse and ConverseStream."""

    def prompt(self):
        return [{"text": os.environ["PROMPT"]}]

    def ask(self, history):
        tools = {"tools": [{"toolSpec": {"name": "save", "inputSchema": {"json": schema}}}]}
        asked = {"modelId": os.environ["MODEL"], "messages": history, "toolConfig": tools}
        if not streams:
            return client.converse(**asked)["output"]["message"]["content"]
        blocks, said = [], ""
        for event in client.converse_stream(**asked)["stream"]:
            if "contentBlockStart" in event:
                blocks.append(event["contentBlockStart"]["start"])
            elif "contentBlockDelta" in event:
                delta = event["contentBlockDelta"]["delta"]
                said += delta["toolUse"]["input"] if "toolUse" in delta else delta["text"]
            elif "contentBlockStop" in event and blocks:
                blocks[-1]["toolUse"]["input"] = json.loads(said)
        return blocks or [{"text": said}]

    def calls(self, content):
        return [(block["toolUse"]["toolUseId"], block["toolUse"]["input"]) for block in content if "toolUse" in block]

    def result(self, call, text):
        return {"toolResult": {"toolUseId": call, "content": [{"text": text}]}}


class Invoke:
    """Asks by InvokeModel and InvokeModelWithResponseStream."""

    def prompt(self):
        return os.environ["PROMPT"]

    def ask(self, history):
        body = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 100, "messages": history}
        body["tools"] = [{"name": "save", "input_schema": schema}]
        asked = {"modelId": os.environ["MODEL"], "body": json.dumps(body)}
        if not streams:
            return json.loads(client.invoke_model(**asked)["body"].read())["content"]
        said = ""
        for each in client.invoke_model_with_response_stream(**asked)["body"]:
            event = json.loads(each["chunk"]["bytes"])
            if event["type"] == "content_block_start":
                block = event["content_block"]
            elif event["type"] == "content_block_delta":
                said += event["delta"].get("text") or event["delta"].get("partial_json", "")
        return [{**block, "input": json.loads(said)} if block["type"] == "tool_use" else {**block, "text": said}]

    def calls(self, content):
        return [(block["id"], block["input"]) for block in content if block["type"] == "tool_use"]

    def result(self, call, text):
        return {"type": "tool_result", "tool_use_id": call, "content": text}


api = {"Converse": Converse, "InvokeModel": Invoke}[os.environ["CLIENT"]]()
history = [{"role": "user", "content": api.prompt()}]
while True:
    content = api.ask(history)
    history.append({"role": "assistant", "content": content})
    calls = api.calls(content)
    if not calls:
        break
    results = []
    for call, given in calls:
        print("TOOL", given["value"])
        results.append(api.result(call, f"saved {given['value']}"))
    history.append({"role": "user", "content": results})
print(content[0]["text"])
